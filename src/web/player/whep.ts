import { accessToken } from '../data/session.js';
import type { Screen, ScreenOptions } from './screen.js';
import { playAnyhow, watchedVideo } from './watched-video.js';

const GATHER_WITHIN_MS = 1_000;
const CONNECT_WITHIN_MS = 10_000;

const gathered = (connection: RTCPeerConnection): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => resolve();
    setTimeout(done, GATHER_WITHIN_MS);
    connection.addEventListener('icegatheringstatechange', () => {
      if (connection.iceGatheringState === 'complete') done();
    });
  });

const offer = async (
  connection: RTCPeerConnection,
  { cameraId, stream }: ScreenOptions,
  signal: AbortSignal,
): Promise<string> => {
  connection.addTransceiver('video', { direction: 'recvonly' });
  connection.addTransceiver('audio', { direction: 'recvonly' });
  await connection.setLocalDescription();
  await gathered(connection);
  const path = `/stream/webrtc/whep/${encodeURIComponent(cameraId)}?stream=${stream}`;
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp', authorization: `Bearer ${await accessToken()}` },
    body: connection.localDescription?.sdp ?? '',
    signal,
  });
  if (!answer.ok) throw new Error(`the service refused WebRTC (${answer.status})`);
  await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
  return answer.headers.get('location') ?? '';
};

/** WebRTC: for pictures where no WebSocket gets through, and for sound. */
export const whepScreen = (options: ScreenOptions): Screen => {
  const { video, stop } = watchedVideo(options, options.hasSound);
  const ended = new AbortController();
  const connection = new RTCPeerConnection();
  const media = new MediaStream();
  video.srcObject = media;
  let location = '';
  const fail = (message: string): void => {
    if (!ended.signal.aborted) options.onFailed('failed', message);
  };
  connection.addEventListener('track', ({ track }) => {
    media.addTrack(track);
    playAnyhow(video);
  });
  connection.addEventListener('connectionstatechange', () => {
    if (connection.connectionState === 'failed') fail('WebRTC found no way to the service');
  });
  const timer = setTimeout(() => {
    if (connection.connectionState !== 'connected') fail('WebRTC did not connect');
  }, CONNECT_WITHIN_MS);
  offer(connection, options, ended.signal)
    .then((address) => {
      location = address;
      if (ended.signal.aborted && location !== '') void fetch(location, { method: 'DELETE' }).catch(() => {});
    })
    .catch((fault: unknown) => fail(fault instanceof Error ? fault.message : ''));
  return {
    element: video,
    close: () => {
      ended.abort();
      clearTimeout(timer);
      stop();
      if (location === '') connection.close();
      // Before the connection ends: then the service would know of it no more.
      else
        void fetch(location, { method: 'DELETE', keepalive: true })
          .catch(() => {})
          .finally(() => connection.close());
    },
  };
};
