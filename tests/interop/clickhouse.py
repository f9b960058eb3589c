"""ClickHouse servers and their ZooKeeper on this machine, in folders of their own, ended when the test is."""

import glob
import json
import os
import random
import re
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
<remote_servers>{clusters}</remote_servers>{more}
</yandex>
"""
REPLICA = ("<replica><host>127.0.0.1</host><port>{tcp}</port><user>writer</user>"
           "<password>{password}</password></replica>")
# Of servers that keep what they have in common with a ZooKeeper.
TOGETHER = """
<interserver_http_host>127.0.0.1</interserver_http_host><interserver_http_port>{own}</interserver_http_port>
<zookeeper><node><host>127.0.0.1</host><port>{zookeeper}</port></node>
<session_timeout_ms>5000</session_timeout_ms></zookeeper>
<distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
<macros><cluster>{cluster}</cluster><shard>{shard}</shard><replica>{number}</replica></macros>
"""
USERS = """<yandex><profiles><default/><reader><readonly>2</readonly></reader></profiles>
<quotas><default/></quotas><users>
<writer><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></writer>
<reader><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>reader</profile><quota>default</quota></reader>
</users></yandex>
"""


def for_old(ddl):
    """Without what a server of 2018 does not know: a time to live, and dictionaries in arrays."""
    ddl = re.sub(r"LowCardinality\(((?:Nullable\(String\))|String)\)", r"\1", ddl)
    return re.sub(r"\nTTL [^;]*;", ";", ddl)


def has_all(test, server, runs, database):
    """Each run's records are there, to the last bit, in rows with one hash each."""
    rows = {}
    for line in server.ask("SELECT * FROM rooflint_facts FORMAT JSONEachRow", database).splitlines():
        row = json.loads(line)
        rows.setdefault(row["hash"], row)
    test.assertEqual(len(rows), len(runs))
    for records in runs:
        row = rows[records[0]["hash"]]
        parts = {"": records[:1], "verdicts.": [r for r in records if r["record"] == "rule"],
                 "machines.": [r for r in records if r["record"] == "device"]}
        for name, cell in row.items():
            part = name[:name.find(".") + 1]
            column = name[len(part):]
            if column in records[0]:
                values = [record[column] for record in parts[part]]
                test.assertEqual(cell, values if part else values[0], name)


def free_port():
    """Below the ports that the system gives to clients: none of them sits on it while the server
    that it belongs to is down."""
    while True:
        port = random.randrange(12000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def clusters(ports):
    """Two that are made of the same servers: `both` has a shard on each, `twins` one shard twice."""
    replicas = [REPLICA.format(tcp=tcp, password=PASSWORD) for _, tcp in ports]
    kept = "<internal_replication>true</internal_replication>"
    both = "".join(f"<shard>{kept}{replica}</shard>" for replica in replicas)
    return f"<both>{both}</both><twins><shard>{kept}{''.join(replicas)}</shard></twins>"


class Server:
    """`ports` are those of all servers, as (http, tcp); with a ZooKeeper they form that cluster."""

    def __init__(self, folder, ports, number, zookeeper=None, cluster="both"):
        self.folder, self.port, self.process = folder, ports[number][0], None
        os.makedirs(folder)
        http, tcp = ports[number]
        shard = number if cluster == "both" else 0
        more = zookeeper and TOGETHER.format(own=free_port(), zookeeper=zookeeper, cluster=cluster,
                                             shard=shard, number=number)
        self.write("config.xml", CONFIG.format(http=http, tcp=tcp, folder=folder,
                                               clusters=clusters(ports), more=more or ""))
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
        for _ in range(1200):
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


JARS = glob.glob("/usr/share/java/zookeeper.jar")  # names the others
JAVA = shutil.which("java")


class ZooKeeper:
    """Debian's, alone."""

    def __init__(self, folder):
        self.port = free_port()
        os.makedirs(folder)
        config = os.path.join(folder, "zoo.cfg")
        with open(config, "w", encoding="ascii") as f:
            f.write(f"tickTime=500\ndataDir={folder}/data\nclientPort={self.port}\n"
                    "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
                    "4lw.commands.whitelist=srvr\n")
        with open(os.path.join(folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                [JAVA, "-Xmx128m", "-cp", ":".join(JARS),
                 "org.apache.zookeeper.server.quorum.QuorumPeerMain", config], stdout=log, stderr=log)
        for _ in range(1200):
            if self.is_well():
                return
            time.sleep(0.1)
        with open(os.path.join(folder, "log"), encoding="utf-8", errors="replace") as log:
            raise RuntimeError("zookeeper did not start: " + log.read()[-2000:])

    def is_well(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as s:
                s.sendall(b"srvr")  # answered before it serves, but then without its mode
                return b"Mode:" in b"".join(iter(lambda: s.recv(4096), b""))
        except OSError:
            return False

    def close(self):
        self.process.kill()
        self.process.wait()
