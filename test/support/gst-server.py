"""An RTSP server that we did not write: GStreamer's. Told what to serve by one JSON argument:
{"mounts": {"/path": "launch line"}, "auth": null | {"scheme": "basic"|"digest", "user": "..", "password": ".."}, "port": 0}
Prints one JSON line with its port, and ends with its standard input.
"""

import json
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

job = json.loads(sys.argv[1])
Gst.init(None)
loop = GLib.MainLoop()
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(str(job.get("port", 0)))
login = job.get("auth")

if login is not None:
    auth = GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "user")
    if login["scheme"] == "digest":
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
        auth.add_digest(login["user"], login["password"], token)
    else:
        auth.add_basic(GstRtspServer.RTSPAuth.make_basic(login["user"], login["password"]), token)
    server.set_auth(auth)

for path, launch in job["mounts"].items():
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(launch)
    if login is not None:
        permissions = GstRtspServer.RTSPPermissions()
        permissions.add_permission_for_role("user", "media.factory.access", True)
        permissions.add_permission_for_role("user", "media.factory.construct", True)
        factory.set_permissions(permissions)
    server.get_mount_points().add_factory(path, factory)

if server.attach(None) == 0:
    sys.exit("the port is taken")


def end_with_parent():
    sys.stdin.read()
    GLib.idle_add(loop.quit)


threading.Thread(target=end_with_parent, daemon=True).start()
print(json.dumps({"port": server.get_bound_port()}), flush=True)
loop.run()
