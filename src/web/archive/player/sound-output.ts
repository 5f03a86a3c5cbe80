import type { DecodedSound } from './sound-decoder.js';

/** Nearer than this pieces follow one another without a seam. */
const SEAM_SEC = 0.08;
const MAX_AHEAD_SEC = 15;

/** Plays pieces of sound where they belong, by the clock of the pictures. */
export class SoundOutput {
  #context: AudioContext | null = null;
  #nextSec = 0;
  readonly #playing = new Set<AudioBufferSourceNode>();

  /** Called by a click or key: browsers let nothing sound before. */
  start(): void {
    this.#context ??= new AudioContext();
    void this.#context.resume();
  }

  /** `timeMs` is what the clock of the pictures shows now. */
  play(sound: DecodedSound, timeMs: number): void {
    const context = this.#context;
    const [first] = sound.channels;
    if (context === null || first === undefined || first.length === 0) return;
    const idealSec = context.currentTime + (sound.wallMs - timeMs) / 1000;
    if (idealSec > context.currentTime + MAX_AHEAD_SEC) return;
    const atSec = Math.abs(idealSec - this.#nextSec) < SEAM_SEC ? this.#nextSec : idealSec;
    if (atSec < context.currentTime) return;
    const buffer = context.createBuffer(sound.channels.length, first.length, sound.rateHz);
    for (const [index, channel] of sound.channels.entries()) buffer.copyToChannel(channel, index);
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    source.onended = () => this.#playing.delete(source);
    source.start(atSec);
    this.#playing.add(source);
    this.#nextSec = atSec + buffer.duration;
  }

  /** What was still to come is not heard. */
  cut(): void {
    for (const source of this.#playing) source.stop();
    this.#playing.clear();
    this.#nextSec = 0;
  }

  close(): void {
    this.cut();
    void this.#context?.close();
    this.#context = null;
  }
}
