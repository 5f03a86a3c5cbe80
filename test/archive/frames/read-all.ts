import type { FrameReading } from '../../../src/archive/frames/frame-reading.js';
import {
  type ConfigMessage,
  type FrameMessage,
  type GapMessage,
  type Message,
  parseMessages,
} from '../../support/frame-messages.js';

/** All messages of a reading, which is closed then. */
export const readAll = async (reading: FrameReading): Promise<Message[]> => {
  const batches: Buffer[] = [];
  for await (const batch of reading.read()) batches.push(batch);
  reading.close();
  return parseMessages(Buffer.concat(batches));
};

export const framesOf = (messages: readonly Message[], stream = 1): FrameMessage[] =>
  messages.filter((message) => message.type === 'frame').filter((frame) => frame.stream === stream);

export const configsOf = (messages: readonly Message[]): ConfigMessage[] =>
  messages.filter((message) => message.type === 'config');

export const gapsOf = (messages: readonly Message[]): GapMessage[] =>
  messages.filter((message) => message.type === 'gap');

/** What a decoder of Annex B is given: before each keyframe the parameter sets of the config that holds. */
export const streamOf = (messages: readonly Message[]): Buffer => {
  const pieces: Buffer[] = [];
  let sets = Buffer.alloc(0);
  for (const message of messages) {
    if (message.type === 'gap' || message.stream !== 1) continue;
    if (message.type === 'config') sets = Buffer.from(message.description);
    else pieces.push(...(message.isKey ? [sets] : []), message.bytes);
  }
  return Buffer.concat(pieces);
};
