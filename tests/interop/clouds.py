"""A storage server on this machine that speaks enough of S3 and of Google's JSON to be listed and
read, checks what it is asked, and misbehaves as told.  Written from the public documents alone."""

import base64
import bisect
import functools
import hashlib
import hmac
import http.server
import json
import os
import ssl
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

KEY, SECRET = "AKIAROOFLINTTEST", "s3cret/Key+Of=TheTests0123456789"


def signature(secret, region, method, path, query, headers, signed, stamp, service="s3"):
    """Signature Version 4, task by task, in Python's own words."""
    pairs = sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))
    quote = lambda s: urllib.parse.quote(s, safe="-_.~")  # noqa: E731
    canonical = "\n".join(
        [method, path, "&".join(quote(k) + "=" + quote(v) for k, v in pairs)]
        + [name + ":" + headers[name].strip() for name in signed]
        + ["", ";".join(signed), headers["x-amz-content-sha256"]])
    scope = "/".join([stamp[:8], region, service, "aws4_request"])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def reply(handler, status, body, headers=()):
    """A whole answer, as a method of a handler."""
    handler.send_response(status)
    for name, value in headers:
        handler.send_header(name, value)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


class Server:
    """`objects` is {bucket: {key: bytes}}; `trouble` is called before an object is sent, and
    `list_trouble` before a page of a list: both may answer themselves and return True."""

    def __init__(self, folder=None):
        """TLS by the certificate in that folder; without one, none."""
        self.objects = {}
        self.public = False
        self.region = "us-east-1"
        self.token = None  # of a session, or Google's bearer
        self.trouble = self.list_trouble = None
        self.next_of = lambda after: after  # what asks for the page behind that name
        self.fetched, self.listed, self.asked = [], [], []
        self.names = {}  # of a bucket that is too large to be sorted at each page
        self.page = 1000
        self.other = {}  # path: function of the handler, for metadata and tokens
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            reply = reply

            def refuse(self, status, code, headers=()):
                self.reply(status, f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>not "
                           f"for {KEY}</Message></Error>".encode(), headers)

            def do_GET(self):
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.asked.append((self.command, self.path, headers))
                path, _, query = self.path.partition("?")
                if path in outer.other:
                    outer.other[path](self)
                elif path.startswith("/storage/v1/b/"):
                    outer.gcs(self, path, dict(urllib.parse.parse_qsl(query, True)))
                else:
                    outer.s3(self, path, query)

            do_PUT = do_POST = do_GET

            def log_message(self, *args):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        if folder:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(os.path.join(folder, "cert.pem"),
                                    os.path.join(folder, "key.pem"))
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True,
                                                   do_handshake_on_connect=False)
            self.url = f"https://localhost:{self.port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    # ---- S3 ------------------------------------------------------------------------------------

    def may(self, h, path, query):
        """None, or why not."""
        given = h.headers.get("authorization")
        if not given:
            return None if self.public else "AccessDenied"
        if not given.startswith("AWS4-HMAC-SHA256 "):
            return "InvalidArgument"
        words = dict(w.strip().split("=", 1) for w in given.split(" ", 1)[1].split(","))
        key, day, region, _, _ = words["Credential"].split("/")
        stamp = h.headers["x-amz-date"]
        if key != KEY:
            return "InvalidAccessKeyId"
        if region != self.region:
            return "AuthorizationHeaderMalformed"
        if self.token and h.headers.get("x-amz-security-token") != self.token:
            return "InvalidToken"
        names = words["SignedHeaders"].split(";")
        made = signature(SECRET, region, h.command, path, query,
                         {n: h.headers[n] for n in names}, names, stamp)
        fresh = abs(time.time() - time.mktime(time.strptime(stamp, "%Y%m%dT%H%M%SZ")) +
                    time.timezone) < 900
        good = made == words["Signature"] and day == stamp[:8] and fresh
        return None if good else "SignatureDoesNotMatch"

    def s3(self, h, path, query):
        bucket, _, key = urllib.parse.unquote(path[1:]).partition("/")
        why = self.may(h, path, query)
        if why == "AuthorizationHeaderMalformed":
            return h.refuse(301, "PermanentRedirect", [("x-amz-bucket-region", self.region),
                                                       ("location", "http://127.0.0.1:1/")])
        if why:
            return h.refuse(403, why)
        if bucket not in self.objects:
            return h.refuse(404, "NoSuchBucket")
        if not key:
            return self.s3_list(h, bucket, dict(urllib.parse.parse_qsl(query, True)))
        if key not in self.objects[bucket]:
            return h.refuse(404, "NoSuchKey")
        body = self.objects[bucket][key]
        etag = '"' + hashlib.md5(body).hexdigest() + '"'
        if h.headers.get("if-match", etag) != etag:
            return h.refuse(412, "PreconditionFailed")
        self.fetched.append(key)
        if not (self.trouble and self.trouble(h, body)):
            h.reply(200, body, [("etag", etag)])

    def s3_list(self, h, bucket, query):
        assert query["list-type"] == "2" and query["encoding-type"] == "url"
        page, dirs, token = self.page_of(bucket, query, query.get("continuation-token", ""),
                                         query.get("start-after", ""))
        of = self.objects[bucket]
        items = "".join(
            f"<Contents><Key>{urllib.parse.quote(k)}</Key><ETag>&quot;"
            f"{md5(of[k])}&quot;</ETag><Size>{len(of[k])}</Size></Contents>"
            for k in page)
        items += "".join(f"<CommonPrefixes><Prefix>{urllib.parse.quote(k)}</Prefix>"
                         "</CommonPrefixes>" for k in dirs)
        more = f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if token else ""
        self.send_list(h, (
            f"<?xml version='1.0'?><ListBucketResult><IsTruncated>{str(bool(token)).lower()}"
            f"</IsTruncated>{more}{items}<EncodingType>url</EncodingType></ListBucketResult>"
            ).encode())

    # ---- lists ---------------------------------------------------------------------------------

    def page_of(self, bucket, query, token, after):
        """Objects and directories behind a token or another name, and what asks for those behind
        them.  With a delimiter what is below a directory is that directory, which sorts where it
        does."""
        prefix = query["prefix"]
        self.listed.append(prefix)
        after = base64.b64decode(token).decode(errors="replace") or after
        names = self.names.get(bucket) or sorted(self.objects[bucket])
        at = max(bisect.bisect_right(names, after), bisect.bisect_left(names, prefix))
        end = bisect.bisect_left(names, prefix + LAST)
        if "delimiter" not in query:  # a million of them are asked for in one list
            page = names[at:min(at + self.page, end)]
            return page, [], self.token_of(page[-1]) if at + self.page < end else ""
        page, dirs = [], []
        while at < end:
            if len(page) + len(dirs) == self.page:
                last = max(page[-1:] + dirs[-1:])
                return page, dirs, self.token_of(last + (LAST if last in dirs[-1:] else ""))
            below, level, _ = names[at][len(prefix):].partition("/")
            if level:
                dirs.append(prefix + below + "/")
                at = bisect.bisect_left(names, prefix + below + "0")
            else:
                page.append(names[at])
                at += 1
        return page, dirs, ""

    def token_of(self, last):
        return base64.b64encode(self.next_of(last).encode()).decode()

    def send_list(self, h, body):
        if not (self.list_trouble and self.list_trouble(h, body)):
            h.reply(200, body)

    # ---- Google ----------------------------------------------------------------------------------

    def gcs(self, h, path, query):
        bucket, _, key = path[len("/storage/v1/b/"):].partition("/o")
        if not self.public and h.headers.get("authorization") != f"Bearer {self.token}":
            return h.reply(401, b'{"error":{"errors":[{"reason":"authError"}]}}')
        if bucket not in self.objects:
            return h.reply(404, b'{"error":{"errors":[{"reason":"notFound"}]}}')
        all_of = self.objects[bucket]
        if not key:
            # A list begins with this name, not behind it.
            offset = query.get("startOffset", "")
            page, dirs, token = self.page_of(
                bucket, query, query.get("pageToken", ""),
                offset and offset[:-1] + chr(ord(offset[-1]) - 1) + LAST)
            more = {"nextPageToken": token} if token else {}
            more = {**more, "prefixes": dirs} if dirs else more
            return self.send_list(h, json.dumps({**more, "items": [
                {"name": k, "size": str(len(all_of[k])), "generation": generation(all_of[k])}
                for k in page]}).encode())
        key = urllib.parse.unquote(key[1:])
        body = all_of.get(key)
        assert query["alt"] == "media" and h.headers["accept-encoding"] == "gzip"
        if body is None or query["generation"] != generation(body):
            return h.reply(404, b'{"error":{"errors":[{"reason":"notFound"}]}}')
        self.fetched.append(key)
        if self.trouble and self.trouble(h, body):
            return None
        md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
        return h.reply(200, body, [("x-goog-generation", generation(body)),
                                   ("x-goog-hash", "crc32c=" + crc32c(body)),
                                   ("x-goog-hash", "md5=" + md5)])


LAST = chr(0x10ffff)


@functools.lru_cache(maxsize=None)
def md5(body):
    return hashlib.md5(body).hexdigest()


@functools.lru_cache(maxsize=None)
def generation(body):
    """A version of Google's: another one for other bytes."""
    return str(int(hashlib.md5(body).hexdigest()[:12], 16))


def crc32c_of(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    return byte


CRC32C = [crc32c_of(byte) for byte in range(256)]


@functools.lru_cache(maxsize=None)
def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC32C[crc & 255 ^ byte]
    return base64.b64encode((crc ^ 0xffffffff).to_bytes(4, "big")).decode()
