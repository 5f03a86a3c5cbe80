import { messageOf } from '../../src/base/errors.js';
import { H264_OFFER, type OfferedPayload, WhepClient } from '../../test/support/whep-client.js';
import { FrameWatch } from './frame-watch.js';
import { RtpFrames } from './rtp-frames.js';
import type { OpenViewer } from './viewer.js';

const H265_OFFER: OfferedPayload = { payloadType: 104, map: 'H265/90000' };

/** A browser without its jitter buffer: of each frame the last packet is decrypted, for its stamp. */
export const openWhepViewer: OpenViewer = ({ url }, seen, onFirst) => {
  const frames = new RtpFrames(seen, new FrameWatch(seen, onFirst));
  let close: () => void = () => {};
  let isClosed = false;
  const play = async (): Promise<void> => {
    const client = await WhepClient.create({ countOnly: true, video: [H264_OFFER, H265_OFFER] });
    close = () => client.close();
    const headers = { 'content-type': 'application/sdp' };
    const response = await fetch(url, { method: 'POST', headers, body: client.offer });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    const location = response.headers.get('location');
    close = () => {
      client.close();
      if (location !== null) void fetch(new URL(location, url), { method: 'DELETE' }).catch(() => {});
    };
    if (isClosed) {
      close();
      return;
    }
    client.onPacket = (packet) => {
      if (seen.isMeasuring) seen.bytes += packet.length;
      if (!client.isConnected || !frames.take(packet, 0)) return;
      const plain = client.open(packet);
      frames.finish(plain, 0, plain.length);
    };
    client.start(text);
  };
  play().catch((fault: unknown) => {
    seen.faults.push(`${new URL(url).pathname}: ${messageOf(fault)}`);
    onFirst();
  });
  return {
    pictures: 1,
    close: () => {
      isClosed = true;
      close();
    },
  };
};
