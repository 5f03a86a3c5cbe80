import { signal } from '@preact/signals';
import { type ConfigMessage, type FrameMessage, readMessage } from './messages.js';

/** So much is waited for, that sound goes on evenly; more is left out. */
const AHEAD_SEC = 0.15;
const MAX_AHEAD_SEC = 0.6;

/** `silent`: nobody asked for it, or the camera has none; `unsupported`: this browser doesn't play that. */
export type SoundState = 'silent' | 'playing' | 'unsupported';

/** The sound of the tile that has it, by the wall's socket. */
export class Sound {
  readonly state = signal<SoundState>('silent');
  #context: AudioContext | null = null;
  #decoder: AudioDecoder | null = null;
  #isOn = false;
  /** Kept while it is off: what was described once is not described again. */
  #config: ConfigMessage | null = null;
  #playedToSec = 0;

  /** Browsers let nothing sound before somebody touched the page: called by what was touched. */
  begin(): void {
    this.#isOn = true;
    this.#context ??= new AudioContext({ latencyHint: 'interactive' });
    void this.#context.resume();
  }

  end(): void {
    this.#isOn = false;
    this.#closeDecoder();
    this.state.value = 'silent';
    void this.#context?.suspend();
  }

  take(data: ArrayBuffer): void {
    const message = readMessage(new Uint8Array(data));
    if (message?.kind === 'config') this.#configure(message);
    else if (message?.kind === 'frame' && this.#isOn) this.#decode(message);
  }

  #configure(config: ConfigMessage): void {
    this.#closeDecoder();
    this.#config = config;
    this.state.value = 'silent';
  }

  #open(config: ConfigMessage): void {
    if (!('AudioDecoder' in globalThis)) {
      this.state.value = 'unsupported';
      return;
    }
    const { codec, width: numberOfChannels, rateHz, sets } = config;
    try {
      this.#decoder = new AudioDecoder({
        output: (sound) => this.#play(sound),
        error: () => {
          this.#decoder = null;
          this.state.value = 'unsupported';
        },
      });
      this.#decoder.configure({
        ...{ codec, numberOfChannels, sampleRate: rateHz ?? 48_000 },
        ...(sets.length > 0 ? { description: sets } : {}),
      });
    } catch {
      this.#closeDecoder();
      this.state.value = 'unsupported';
    }
  }

  #decode({ stream, decodeUs, data }: FrameMessage): void {
    const config = this.#config;
    if (config === null || config.stream !== stream) return;
    if (this.#decoder === null && this.state.peek() === 'silent') this.#open(config);
    if (this.#decoder?.state !== 'configured') return;
    this.#decoder.decode(new EncodedAudioChunk({ type: 'key', timestamp: decodeUs, data }));
  }

  #play(sound: AudioData): void {
    const context = this.#context;
    const { numberOfChannels, numberOfFrames, sampleRate } = sound;
    if (context === null || context.state !== 'running') {
      sound.close();
      return;
    }
    const buffer = context.createBuffer(numberOfChannels, numberOfFrames, sampleRate);
    for (let channel = 0; channel < numberOfChannels; channel++) {
      const samples = new Float32Array(numberOfFrames);
      sound.copyTo(samples, { planeIndex: channel, format: 'f32-planar' });
      buffer.copyToChannel(samples, channel);
    }
    sound.close();
    this.state.value = 'playing';
    const nowSec = context.currentTime;
    if (this.#playedToSec < nowSec) this.#playedToSec = nowSec + AHEAD_SEC;
    if (this.#playedToSec > nowSec + MAX_AHEAD_SEC) return;
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(context.destination);
    source.start(this.#playedToSec);
    this.#playedToSec += buffer.duration;
  }

  #closeDecoder(): void {
    if (this.#decoder !== null && this.#decoder.state !== 'closed') this.#decoder.close();
    this.#decoder = null;
  }
}
