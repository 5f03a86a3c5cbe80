import { signal } from '@preact/signals';
import { accessToken, refreshMe } from '../../data/session.js';
import type { EngineCommand, EngineReport, Phase } from './engine-messages.js';
import { type CameraFact, factsOf } from './facts.js';
import type { ArchivePlayer, PlayCommand, PlayerEvents } from './player-api.js';
import { SoundOutput } from './sound-output.js';

/** Another moment, another pace, another camera. */
const CUT_BY: readonly string[] = ['seek', 'scrub', 'play', 'pause', 'step', 'large'];

/** The page's end of the worker that plays. */
export class WorkerPlayer implements ArchivePlayer {
  readonly timeMs = signal(0);
  readonly phase = signal<Phase>('paused');
  readonly rate = signal(1);
  readonly facts = signal<ReadonlyMap<string, CameraFact>>(new Map());
  readonly #worker = new Worker(new URL('./archive-frames.ts', import.meta.url), { type: 'module' });
  readonly #sound = new SoundOutput();

  constructor(events: PlayerEvents) {
    this.#worker.onmessage = ({ data }: MessageEvent<EngineReport>) => this.#take(data, events);
  }

  readonly isFull = true;

  mayPlay(): boolean {
    return true;
  }

  attach(camera: string, host: HTMLElement): () => void {
    const element = document.createElement('canvas');
    const sizeOf = (): { width: number; height: number } => ({
      width: host.clientWidth * devicePixelRatio,
      height: host.clientHeight * devicePixelRatio,
    });
    const canvas = element.transferControlToOffscreen();
    host.append(element);
    this.#worker.postMessage({ op: 'add', camera, canvas } satisfies EngineCommand, [canvas]);
    const observer = new ResizeObserver(() => this.#tell({ op: 'resize', camera, ...sizeOf() }));
    observer.observe(host);
    return () => {
      observer.disconnect();
      element.remove();
      this.#tell({ op: 'remove', camera });
    };
  }

  send(command: PlayCommand): void {
    if (command.op === 'sound' && command.isOn) this.#sound.start();
    const isMuted = command.op === 'sound' && !command.isOn;
    // Sound is there some seconds ahead, and would go on for as long.
    if (isMuted || CUT_BY.includes(command.op)) this.#sound.cut();
    if (command.op === 'seek' || command.op === 'scrub') this.timeMs.value = command.timeMs;
    this.#tell(command);
  }

  close(): void {
    this.#worker.terminate();
    this.#sound.close();
  }

  #tell(command: EngineCommand): void {
    this.#worker.postMessage(command);
  }

  /** One that was refused is renewed by the next request, whatever it is for. */
  async #giveToken(isRefused: boolean): Promise<void> {
    if (isRefused) await refreshMe().catch(() => {});
    this.#tell({ op: 'token', token: await accessToken().catch(() => '') });
  }

  #take(report: EngineReport, { onSkipped, onSnapshot }: PlayerEvents): void {
    switch (report.kind) {
      case 'position':
        this.timeMs.value = report.timeMs;
        this.phase.value = report.phase;
        this.rate.value = report.rate;
        this.facts.value = factsOf(this.facts.peek(), report.cameras);
        break;
      case 'skipped':
        onSkipped(report.fromMs, report.toMs);
        break;
      case 'snapshot':
        onSnapshot(report.camera, report.blob, report.shownMs);
        break;
      case 'sound':
        this.#sound.play(report.sound, this.timeMs.peek());
        break;
      case 'token':
        void this.#giveToken(report.isRefused);
        break;
    }
  }
}
