import { makeVideo, options, videoControls, videoStats } from './common.js';

const view = makeVideo();
const peer = new RTCPeerConnection();
const facts = { status: 0, location: null, answer: '', deleteStatus: 0, firstPictureMs: null, failure: null };
const authorization = options.token === null ? {} : { authorization: `Bearer ${options.token}` };
const stream = new MediaStream();
view.video.autoplay = true;
view.video.srcObject = stream;
peer.addEventListener('track', ({ track }) => stream.addTrack(track));

const gathered = () =>
  new Promise((resolve) => {
    const look = () => peer.iceGatheringState === 'complete' && resolve();
    peer.addEventListener('icegatheringstatechange', look);
    look();
  });

const start = async () => {
  peer.addTransceiver('video', { direction: 'recvonly' });
  if (options.audio) peer.addTransceiver('audio', { direction: 'recvonly' });
  await peer.setLocalDescription();
  await gathered();
  const startMs = performance.now();
  view.video.requestVideoFrameCallback(() => {
    facts.firstPictureMs = performance.now() - startMs;
  });
  const response = await fetch(options.url, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp', ...authorization },
    body: peer.localDescription.sdp,
  });
  facts.status = response.status;
  const location = response.headers.get('location');
  facts.location = location;
  facts.answer = await response.text();
  if (response.status !== 201) throw new Error(`${response.status} ${facts.answer}`);
  await peer.setRemoteDescription({ type: 'answer', sdp: facts.answer });
};

start().catch((error) => {
  facts.failure = String(error);
});

const transportStats = async () => {
  const reports = [...(await peer.getStats()).values()];
  const inbound = (kind) => reports.find((report) => report.type === 'inbound-rtp' && report.kind === kind);
  const video = inbound('video');
  return {
    codecs: reports.filter(({ type }) => type === 'codec').map(({ mimeType }) => mimeType),
    packetsReceived: video?.packetsReceived ?? 0,
    packetsLost: video?.packetsLost ?? 0,
    framesDecoded: video?.framesDecoded ?? 0,
    framesDropped: video?.framesDropped ?? 0,
    keyFramesDecoded: video?.keyFramesDecoded ?? 0,
    audioPacketsReceived: inbound('audio')?.packetsReceived ?? 0,
  };
};

const end = async () => {
  if (facts.location !== null && facts.deleteStatus === 0) {
    const address = new URL(facts.location, options.url);
    facts.deleteStatus = (await fetch(address, { method: 'DELETE', headers: authorization })).status;
  }
};

window.player = {
  ...videoControls(view),
  stats: async () => ({
    ...videoStats(view),
    ...facts,
    connectionState: peer.connectionState,
    ...(await transportStats()),
  }),
  end,
  close: async () => {
    await end();
    peer.close();
  },
};
