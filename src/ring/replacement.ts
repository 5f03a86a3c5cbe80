import { copyBytes } from './copy-bytes.js';
import {
  allocateRing,
  headerWord,
  RingMemory,
  type RingSize,
  ringState,
  SLOT_WORDS,
  slotWord,
} from './layout.js';

const copySlot = (from: RingMemory, to: RingMemory, sequence: number): void => {
  const source = from.slotAt(sequence);
  const target = to.slotAt(sequence);
  for (let i = 0; i < SLOT_WORDS; i += 1) to.slots[target + i] = from.slots[source + i]!;
};

const carriedWords = [
  headerWord.head,
  headerWord.latestKey,
  headerWord.hasKey,
  headerWord.streamVersion,
  headerWord.formatVersion,
  headerWord.setsVary,
  headerWord.awaitsSound,
  headerWord.mark,
  headerWord.hasMark,
] as const;

/** Whether the ring holds this frame. */
const isHeld = (memory: RingMemory, sequence: number, reserved: number): boolean => {
  const at = memory.slotAt(sequence);
  const isThere = memory.slots[at + slotWord.sequence] === sequence;
  return isThere && memory.holds(memory.slots[at + slotWord.position]!, reserved);
};

/** The oldest frame from which on all fit into so many bytes and slots; `head` if none does. */
const oldestThatFits = (from: RingMemory, roomBytes: number, slotCount: number): number => {
  const reserved = from.header[headerWord.reserved]!;
  const mostFrames = Math.min(slotCount, from.slotCount);
  let sequence = from.header[headerWord.head]!;
  let leftBytes = roomBytes;
  for (let frames = 0; frames < mostFrames; frames += 1) {
    const before = (sequence - 1) | 0;
    if (!isHeld(from, before, reserved)) break;
    leftBytes -= from.slots[from.slotAt(before) + slotWord.lengthBytes]!;
    if (leftBytes < 0) break;
    sequence = before;
  }
  return sequence;
};

/**
 * Makes a ring with the newest frames of `from`, as many as fit beside an open one of `openBytes`, under the same
 * sequence numbers, with the same descriptions and counters. Frames are packed from the start; `writePosition` and `writeOffset` say where
 * the next one goes. Nobody else knows the new ring yet, so nothing here is atomic.
 */
export const replacementOf = (from: RingMemory, size: RingSize, openBytes: number): RingMemory => {
  const to = allocateRing(size, from.header[headerWord.ringId]!);
  for (const word of carriedWords) to.header[word] = from.header[word]!;
  to.counters.set(from.counters);
  from.info.copy(to.info);
  const reserved = from.header[headerWord.reserved]!;
  const head = from.header[headerWord.head]!;
  let position = reserved;
  to.header[headerWord.validFrom] = position;
  let offset = 0;
  let sequence = oldestThatFits(from, size.dataBytes - openBytes, size.slotCount);
  for (; sequence !== head; sequence = (sequence + 1) | 0) {
    const at = from.slotAt(sequence);
    copySlot(from, to, sequence);
    const target = to.slotAt(sequence);
    const lengthBytes = from.slots[at + slotWord.lengthBytes]!;
    const start = from.slots[at + slotWord.offset]!;
    copyBytes(from.data, start, start + lengthBytes, to.data, offset);
    to.slots[target + slotWord.position] = position;
    to.slots[target + slotWord.offset] = offset;
    position = (position + lengthBytes) | 0;
    offset += lengthBytes;
  }
  to.header[headerWord.writePosition] = position;
  to.header[headerWord.writeOffset] = offset;
  to.header[headerWord.reserved] = position;
  return to;
};

/** The last published frame's slot, or -1 if there is none. */
export const lastSlot = (memory: RingMemory): number => {
  const sequence = (memory.header[headerWord.head]! - 1) | 0;
  const at = memory.slotAt(sequence);
  return memory.slots[at + slotWord.sequence] === sequence ? at : -1;
};

/** The virtual position of a frame, or null if the ring doesn't hold it. */
export const positionOf = (memory: RingMemory, sequence: number): number | null => {
  if (!isHeld(memory, sequence, memory.header[headerWord.reserved]!)) return null;
  return memory.slots[memory.slotAt(sequence) + slotWord.position]!;
};

/** Closes a ring that its writer has left without another one to take it over: readers see it when they look. */
export const closeLeftRing = (ring: SharedArrayBuffer): void => {
  Atomics.store(new RingMemory(ring).header, headerWord.state, ringState.closed);
};
