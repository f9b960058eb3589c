"""A chat service on this machine: TLS by an authority of our own, answers as told, all remembered."""

import http.server
import os
import shutil
import ssl
import subprocess
import threading


def make_authority(folder, names="DNS:localhost,IP:127.0.0.1,IP:127.0.0.2", days=2):
    """ca.pem, and a certificate for this machine signed by it.  None where openssl is missing."""
    if not shutil.which("openssl"):
        return None

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)

    with open(os.path.join(folder, "san"), "w", encoding="ascii") as f:
        f.write(f"subjectAltName={names}\n")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA",
            "-days", "2")
    openssl("req", *curve, "-keyout", "key.pem", "-out", "csr.pem", "-subj", "/CN=localhost")
    openssl("x509", "-req", "-in", "csr.pem", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", str(days), "-extfile", "san", "-out", "cert.pem")
    return os.path.join(folder, "ca.pem")


class Server:
    """`answers` are taken in turn, the last one stays: (status, headers, body), or a function
    of the request that returns one.  A body that is a function writes it to a file, at its pace."""

    def __init__(self, folder, address="127.0.0.1"):
        self.requests = []
        self.answers = [(200, {}, b"ok")]
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                outer.requests.append((self.path, self.headers, body))
                answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                if callable(answer):
                    answer = answer(self)
                status, headers, text = answer
                if callable(text):
                    self.send_response(status)
                    self.end_headers()
                    text(self.wfile)
                    return
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST

            def log_message(self, *args):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass  # whoever does not trust us hangs up

        self.http = Quiet((address, 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    def bodies(self):
        return [body for _, _, body in self.requests]

    def close(self):
        self.http.shutdown()
        self.http.server_close()
