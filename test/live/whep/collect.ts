import { RtpPacket } from '../../../src/rtp/packet.js';

/** What a viewer made of the packets it got. */
export type SeenFrame = { readonly timestamp: number; readonly nals: Buffer[]; readonly isWhole: boolean };

const FU_A = 28;
const STAP_A = 24;

const takeAggregate = (payload: Buffer, nals: Buffer[]): void => {
  for (let at = 1; at + 2 <= payload.length; ) {
    const lengthBytes = payload.readUInt16BE(at);
    nals.push(payload.subarray(at + 2, at + 2 + lengthBytes));
    at += 2 + lengthBytes;
  }
};

const takePayload = (payload: Buffer, nals: Buffer[]): void => {
  const type = payload[0]! & 0x1f;
  if (type === STAP_A) takeAggregate(payload, nals);
  else if (type !== FU_A) nals.push(payload);
  else if (payload[1]! & 0x80) {
    nals.push(Buffer.concat([Buffer.of((payload[0]! & 0xe0) | (payload[1]! & 0x1f)), payload.subarray(2)]));
  } else nals.push(Buffer.concat([nals.pop()!, payload.subarray(2)]));
};

export const parsed = (packet: Buffer): RtpPacket => {
  const view = new RtpPacket();
  if (!view.parse(packet, 0, packet.length)) throw new Error('that is no RTP packet');
  return view;
};

/** Puts packets of one source together, in order of sequence; throws where one is missing. */
export const framesOf = (packets: readonly Buffer[], ssrc: number): SeenFrame[] => {
  const views = packets.map(parsed).filter((packet) => packet.ssrc === ssrc);
  const frames: { timestamp: number; nals: Buffer[]; isWhole: boolean }[] = [];
  let last: RtpPacket | null = null;
  for (const view of views) {
    if (last !== null && view.sequence !== ((last.sequence + 1) & 0xffff)) {
      throw new Error(`packet ${view.sequence} follows ${last.sequence}`);
    }
    if (last === null || last.marker) frames.push({ timestamp: view.timestamp, nals: [], isWhole: false });
    const frame = frames.at(-1)!;
    if (view.timestamp !== frame.timestamp) throw new Error('a frame has two times');
    takePayload(view.buffer.subarray(view.payloadStart, view.payloadEnd), frame.nals);
    frame.isWhole = view.marker;
    last = view;
  }
  return frames.filter(({ isWhole }) => isWhole);
};
