/** The viewer's page: `start` makes an offer, `take` takes the answer, `facts` says what was shown since. */
export const PAGE = `<!doctype html><video id="video" autoplay muted playsinline width="320"></video><script>
const peer = new RTCPeerConnection();
const video = document.getElementById('video');
const shown = [];
let startMs = 0;
peer.addEventListener('track', ({ streams, track }) => { video.srcObject = streams[0] ?? new MediaStream([track]); });
const watch = (nowMs, { rtpTimestamp, presentedFrames }) => {
  shown.push([performance.now() - startMs, rtpTimestamp, presentedFrames]);
  video.requestVideoFrameCallback(watch);
};
video.requestVideoFrameCallback(watch);
window.start = async () => {
  peer.addTransceiver('video', { direction: 'recvonly' });
  await peer.setLocalDescription();
  while (peer.iceGatheringState !== 'complete') await new Promise((resolve) => setTimeout(resolve, 10));
  startMs = performance.now();
  return peer.localDescription.sdp;
};
window.take = (sdp) => peer.setRemoteDescription({ type: 'answer', sdp });
window.facts = async () => {
  const reports = [...(await peer.getStats()).values()];
  const inbound = reports.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'video');
  return { shown, inbound, state: peer.connectionState, nowMs: performance.now() - startMs };
};
</script>`;
