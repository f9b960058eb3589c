"""A ClickHouse server on this machine, in a folder of its own, ended when the test is."""

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

PROGRAM = shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/sbin")
PASSWORD = "pw-0123456789"

CONFIG = """<yandex>
<logger><level>error</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
<users_config>{folder}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>5000000</mark_cache_size><timezone>UTC</timezone>
<remote_servers><both>{shards}</both></remote_servers>
</yandex>
"""
SHARD = ("<shard><replica><host>127.0.0.1</host><port>{tcp}</port><user>writer</user>"
         "<password>{password}</password></replica></shard>")
USERS = """<yandex><profiles><default/><reader><readonly>2</readonly></reader></profiles>
<quotas><default/></quotas><users>
<writer><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></writer>
<reader><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>reader</profile><quota>default</quota></reader>
</users></yandex>
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """`ports` are those of all servers of the cluster `both`, as (http, tcp)."""

    def __init__(self, folder, ports, number):
        self.folder, self.port, self.process = folder, ports[number][0], None
        os.makedirs(folder)
        shards = "".join(SHARD.format(tcp=tcp, password=PASSWORD) for _, tcp in ports)
        http, tcp = ports[number]
        self.write("config.xml", CONFIG.format(http=http, tcp=tcp, folder=folder, shards=shards))
        self.write("users.xml", USERS.format(password=PASSWORD))
        self.start()

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as f:
            f.write(text)

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "--config-file=" + os.path.join(self.folder, "config.xml")], stdout=log,
                stderr=log, cwd=self.folder)
        for _ in range(300):
            try:
                self.ask("SELECT 1")
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            raise RuntimeError("clickhouse-server did not start: " + log.read()[-2000:])

    def ask(self, sql, database="default"):
        url = f"http://127.0.0.1:{self.port}/?database={database}&user=writer&password={PASSWORD}"
        try:
            with urllib.request.urlopen(url, sql.encode(), timeout=60) as answer:
                return answer.read().decode().strip()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{sql}: {error.read().decode()}") from error

    def kill(self):
        """Without a chance to finish anything."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
