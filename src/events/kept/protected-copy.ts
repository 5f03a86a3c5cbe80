import { eventTypes, type KeptEvent } from './event.js';

const isTime = (value: unknown): boolean => Number.isSafeInteger(value);

const isKept = (value: unknown): value is KeptEvent => {
  if (typeof value !== 'object' || value === null) return false;
  const event: Partial<Record<keyof KeptEvent, unknown>> = value;
  const { id, cameraId, type, label, score, fromMs, toMs, isProtected, detail } = event;
  const areTexts = [cameraId, label, detail].every((text) => typeof text === 'string');
  const areTimes = isTime(id) && isTime(fromMs) && (toMs === null || isTime(toMs));
  const isScore = score === null || typeof score === 'number';
  return (
    areTexts && areTimes && isScore && isProtected === true && eventTypes.some((known) => known === type)
  );
};

/** The events in a text that was stored, as far as they are some. */
export const protectedIn = (text: string | null): KeptEvent[] => {
  try {
    const events: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(events) ? events.filter(isKept) : [];
  } catch {
    return [];
  }
};
