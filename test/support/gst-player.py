"""Plays an RTSP address with GStreamer; writes each access unit to standard output: time (ns), length, bytes."""
import struct
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

url, protocol, codec, count = sys.argv[1:5]
Gst.init(None)
# By RTP times alone: the other modes bend them by when packets came.
pipeline = Gst.parse_launch(
    f"rtspsrc name=source location={url} protocols={protocol} buffer-mode=none "
    f"source. ! application/x-rtp,media=video ! rtp{codec}depay ! {codec}parse "
    f"! video/x-{codec},stream-format=byte-stream,alignment=au ! appsink name=sink sync=false"
)
sink = pipeline.get_by_name("sink")
pipeline.set_state(Gst.State.PLAYING)
for _ in range(int(count)):
    sample = sink.emit("pull-sample")
    if sample is None:
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.EOS)
        sys.exit(f"ended early: {message and message.get_structure().to_string()}")
    buffer = sample.get_buffer()
    data = buffer.extract_dup(0, buffer.get_size())
    sys.stdout.buffer.write(struct.pack(">QI", buffer.pts, len(data)) + data)
sys.stdout.buffer.flush()
pipeline.set_state(Gst.State.NULL)
