"""Watches a camera by WHEP with aiortc: one JSON line when some pictures were decoded, then goodbye.
With `--on` behind the address it goes on until it is killed, one line for each further picture.
"""
import asyncio
import json
import sys
import urllib.request

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

PICTURES = 20


async def main(url):
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    peer.addTransceiver("video", direction="recvonly")
    peer.addTransceiver("audio", direction="recvonly")
    seen = asyncio.get_event_loop().create_future()
    tasks = []

    async def watch(track):
        try:
            for _ in range(PICTURES):
                frame = await track.recv()
            if track.kind == "video":
                seen.set_result((frame.width, frame.height))
            while "--on" in sys.argv:
                await track.recv()
                if track.kind == "video":
                    print("picture", flush=True)
        except MediaStreamError:
            pass

    peer.on("track", lambda track: tasks.append(asyncio.ensure_future(watch(track))))
    await peer.setLocalDescription(await peer.createOffer())
    offer = peer.localDescription.sdp.encode()
    request = urllib.request.Request(url, offer, {"content-type": "application/sdp"}, method="POST")
    with urllib.request.urlopen(request) as response:
        answer = response.read().decode()
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    width, height = await asyncio.wait_for(seen, 30)
    print(json.dumps({"width": width, "height": height}), flush=True)
    if "--on" in sys.argv:
        await asyncio.gather(*tasks)
    await peer.close()


asyncio.run(main(sys.argv[1]))
