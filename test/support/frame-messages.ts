import assert from 'node:assert/strict';

/** Messages as a page would read them: section by section of the layout, by nothing of what writes them. */
export type FrameMessage = {
  readonly type: 'frame';
  readonly isKey: boolean;
  readonly brokeOff: boolean;
  readonly stream: number;
  readonly index: number;
  readonly compositionUs: number;
  readonly decodeUs: number;
  readonly wallUs: number;
  readonly bytes: Buffer;
};

export type ConfigMessage = {
  readonly type: 'config';
  readonly reorderDepth: number;
  readonly stream: number;
  readonly width: number;
  readonly height: number;
  readonly rate: number;
  readonly codec: string;
  readonly description: Buffer;
};

export type GapMessage = {
  readonly type: 'gap';
  readonly stream: number;
  readonly fromUs: number;
  readonly toUs: number;
  readonly reason: string;
};

export type Message = FrameMessage | ConfigMessage | GapMessage;

const timeAt = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64BE(at));

const parseFrame = (bytes: Buffer): FrameMessage => {
  const flags = bytes[1]!;
  assert.ok(flags <= 3, `flags ${flags}`);
  assert.equal(bytes.readUInt16BE(2), 0);
  return {
    type: 'frame',
    isKey: (flags & 1) !== 0,
    brokeOff: (flags & 2) !== 0,
    stream: bytes.readUInt32BE(4),
    index: bytes.readUInt32BE(8),
    compositionUs: bytes.readInt32BE(12),
    decodeUs: timeAt(bytes, 16),
    wallUs: timeAt(bytes, 24),
    bytes: bytes.subarray(32),
  };
};

const parseConfig = (bytes: Buffer): ConfigMessage => {
  const end = 16 + bytes.readUInt16BE(2);
  assert.ok(end <= bytes.length, 'the codec string ends within the message');
  return {
    type: 'config',
    reorderDepth: bytes[1]!,
    stream: bytes.readUInt32BE(4),
    width: bytes.readUInt16BE(8),
    height: bytes.readUInt16BE(10),
    rate: bytes.readUInt32BE(12),
    codec: bytes.toString('latin1', 16, end),
    description: bytes.subarray(end),
  };
};

const parseGap = (bytes: Buffer): GapMessage => {
  assert.equal(bytes.readUInt16BE(2), 0);
  assert.equal(bytes.length, 24 + bytes[1]!);
  const stream = bytes.readUInt32BE(4);
  const [fromUs, toUs] = [timeAt(bytes, 8), timeAt(bytes, 16)];
  return { type: 'gap', stream, fromUs, toUs, reason: bytes.toString('latin1', 24) };
};

export const parseMessage = (bytes: Buffer): Message => {
  const parse = { 17: parseConfig, 18: parseFrame, 19: parseGap }[bytes[0]!];
  assert.ok(parse, `a message of type ${bytes[0]}`);
  return parse(bytes);
};

/** All messages of an answer, each behind its length; one that is cut off is a fault. */
export const parseMessages = (body: Buffer): Message[] => {
  const messages: Message[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + 4 + body.readUInt32BE(at);
    assert.ok(end <= body.length, `the message at ${at} ends at ${end} of ${body.length}`);
    messages.push(parseMessage(body.subarray(at + 4, end)));
    at = end;
  }
  return messages;
};
