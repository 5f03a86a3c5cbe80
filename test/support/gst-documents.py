"""Plays the metadata track of an RTSP address with GStreamer; writes what is in so many of its packets."""
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

RTP_HEADER_BYTES = 12

url, protocol, count = sys.argv[1:4]
Gst.init(None)
pipeline = Gst.parse_launch(
    f"rtspsrc name=source location={url} protocols={protocol} "
    "source. ! application/x-rtp,media=application,encoding-name=VND.ONVIF.METADATA ! appsink name=sink sync=false "
    "source. ! application/x-rtp,media=video ! fakesink"
)
sink = pipeline.get_by_name("sink")
pipeline.set_state(Gst.State.PLAYING)
for _ in range(int(count)):
    sample = sink.emit("pull-sample")
    if sample is None:
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.EOS)
        sys.exit(f"ended early: {message and message.get_structure().to_string()}")
    buffer = sample.get_buffer()
    sys.stdout.buffer.write(buffer.extract_dup(RTP_HEADER_BYTES, buffer.get_size() - RTP_HEADER_BYTES))
sys.stdout.buffer.flush()
pipeline.set_state(Gst.State.NULL)
