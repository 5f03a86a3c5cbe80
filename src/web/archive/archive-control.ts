import { computed, effect, signal } from '@preact/signals';
import { cameras as knownCameras, nameOf } from '../data/cameras.js';
import { saveBlob } from '../data/exports.js';
import { eventBeside } from '../data/kept-events.js';
import { preferences, setPreferences } from '../data/preferences.js';
import { asProblem } from '../data/problem.js';
import { loadDetections } from '../data/recorded-detections.js';
import { query } from '../data/route.js';
import { serviceNowMs } from '../data/service-clock.js';
import { zone as siteZone } from '../data/time.js';
import { announce, toast } from '../parts/toasts.js';
import { archiveText, gapText } from '../text/archive.js';
import { newPlayer } from './player/new-player.js';
import { type ArchivePlayer, laneFacts } from './player/player-api.js';
import { NOTHING_SEEN, RecordedSeen, type Seen } from './seen/recorded-seen.js';
import { bounded, endOf, following, type View } from './tape/axis.js';
import { boxAway, EMPTY_LANE, labelsAt, stateAt } from './tape/lane.js';
import { durationText, type Selection, spanOf, withEnd, withStart } from './tape/selection.js';
import { newSelection, type TapeModel } from './tape/tape-state.js';
import { TimelineStore } from './tape/timeline-store.js';
import { zoneOf } from './tape/zone.js';

export const MAX_CAMERAS = 9;
export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16] as const;
const MAX_RATE = 16;
const LOOK_EVERY_MS = 2_000;
/** Beyond what is seen: play may get there. */
const LOOK_AROUND_MS = 120_000;
/** Events are begun to be looked at so much earlier. */
const EARLY_MS = 3_000;
/** Steps that follow each other as fast are a key that is held. */
const HELD_MS = 250;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What an archive view shows and plays: the tape and the player, and what is done to both. */
export class ArchiveControl implements TapeModel {
  readonly cameras = signal<readonly string[]>([]);
  readonly large = signal('');
  readonly view = signal<View>({ fromMs: serviceNowMs() - DAY_MS, spanMs: DAY_MS });
  readonly selection = newSelection();
  readonly isSoundOn = signal(false);
  readonly speed = signal(1);
  /** Whether what was detected is drawn over pictures. */
  readonly hasBoxes = computed(() => preferences.value.hidesDetections !== true);
  readonly timeline = new TimelineStore();
  readonly lanes = this.timeline.lanes;
  readonly zone = computed(() => zoneOf(siteZone.value));
  readonly names = computed(() =>
    this.cameras.value.map((id) => {
      const camera = knownCameras.value?.get(id);
      return { id, name: camera === undefined ? id : nameOf(camera) };
    }),
  );
  /** One that was deleted would take the others' recordings away with it: the service answers for all or for none. */
  readonly #existing = computed(() => this.cameras.value.filter((id) => this.exists(id)).join('\n'));
  readonly player: ArchivePlayer;
  readonly #stops: (() => void)[] = [];
  #wasPlaying: boolean | null = null;
  #steppedMs = Number.NEGATIVE_INFINITY;
  #held: ReturnType<typeof setTimeout> | undefined;

  readonly #seen = new RecordedSeen(loadDetections, () => {
    this.#seenChanges.value += 1;
  });
  readonly #seenChanges = signal(0);

  constructor() {
    this.player = newPlayer({
      onSkipped: (fromMs, toMs) => this.#tellSkip(fromMs, toMs),
      onSnapshot: (camera, blob, shownMs) => this.#saveSnapshot(camera, blob, shownMs),
    });
    const look = (): void => {
      const view = this.view.peek();
      const timeMs = this.timeMs.peek();
      this.timeline.look(
        Math.min(view.fromMs, timeMs - LOOK_AROUND_MS),
        Math.max(endOf(view), timeMs + LOOK_AROUND_MS),
      );
    };
    const timer = setInterval(() => document.hidden || look(), LOOK_EVERY_MS);
    this.#stops.push(
      () => clearInterval(timer),
      effect(() => {
        this.timeline.use(this.#existing.value.split('\n').filter((id) => id !== ''));
        void this.view.value;
        look();
      }),
      effect(() => this.player.send(laneFacts(this.lanes.value))),
      effect(() => this.player.send({ op: 'large', camera: this.large.value })),
      effect(() => this.#follow(this.timeMs.value)),
      effect(() => this.#lookForSeen()),
      () => this.#seen.close(),
      effect(() => {
        if (this.player.phase.value === 'end') announce(archiveText('atEnd'));
      }),
    );
  }

  get timeMs(): ArchivePlayer['timeMs'] {
    return this.player.timeMs;
  }

  get isPlaying(): boolean {
    return ['playing', 'waiting', 'end'].includes(this.player.phase.value);
  }

  /** Reads a signal: whoever asks hears of the answer's change. */
  exists(camera: string): boolean {
    return knownCameras.value?.has(camera) !== false;
  }

  /** What was detected in the picture that is shown of a camera. */
  seenIn(camera: string): Seen {
    const shownMs = this.player.facts.value.get(camera)?.shownMs ?? null;
    void this.#seenChanges.value;
    return shownMs === null || !this.hasBoxes.value ? NOTHING_SEEN : this.#seen.at(camera, shownMs);
  }

  readonly toggleBoxes = (): void => {
    void setPreferences({ hidesDetections: this.hasBoxes.peek() }).catch(() => {});
  };

  /** Whoever drags through time sees no boxes that aren't known: each minute would be asked for. */
  #lookForSeen(): void {
    if (!this.hasBoxes.value || this.player.phase.value === 'scrubbing') return;
    const shown = [...this.player.facts.value].flatMap(([camera, { shownMs }]) =>
      shownMs === null ? [] : [[camera, shownMs] as const],
    );
    this.#seen.want(new Map(shown));
  }

  close(): void {
    this.#endHeld();
    for (const stop of this.#stops) stop();
    this.player.close();
  }

  /** Other cameras at the same moment; the large one stays it, if it can. */
  show(cameras: readonly string[], large?: string): void {
    const wanted = [...new Set(cameras)].slice(0, MAX_CAMERAS);
    this.cameras.value = wanted;
    const kept = [large, this.large.peek()].find((id) => id !== undefined && wanted.includes(id));
    this.large.value = kept ?? wanted[0] ?? '';
  }

  readonly describe = (camera: string, timeMs: number): string => {
    if (timeMs > serviceNowMs()) return archiveText('future');
    const lane = this.lanes.value.get(camera) ?? EMPTY_LANE;
    const state = stateAt(lane, timeMs);
    if (state.kind === 'unknown') return archiveText('unknown');
    if (state.kind === 'recorded') return [archiveText('recorded'), ...labelsAt(lane, timeMs)].join(', ');
    const until = archiveText('gapUntil', { time: this.zone.value.clock(state.toMs) });
    return `${gapText(state.reason, boxAway(state.reason))}, ${until}`;
  };

  seek(timeMs: number): void {
    this.#endHeld();
    const isPlaying = this.isPlaying;
    this.player.send({ op: 'seek', timeMs: Math.min(timeMs, serviceNowMs()) });
    if (isPlaying) this.player.send({ op: 'play', rate: this.player.rate.peek() });
  }

  /** A moment, and so much around it on the tape. */
  goTo(timeMs: number, spanMs = this.view.peek().spanMs): void {
    this.view.value = bounded({ fromMs: timeMs - spanMs / 2, spanMs }, serviceNowMs());
    this.seek(timeMs);
  }

  showDay(day: string): void {
    const { fromMs, toMs } = this.zone.peek().boundsOf(day);
    this.view.value = { fromMs, spanMs: toMs - fromMs };
  }

  readonly onScrub = (timeMs: number): void => {
    this.#wasPlaying ??= this.isPlaying;
    this.player.send({ op: 'scrub', timeMs });
  };

  readonly onRelease = (timeMs: number): void => {
    clearTimeout(this.#held);
    this.#held = undefined;
    const wasPlaying = this.#wasPlaying === true;
    this.#wasPlaying = null;
    this.player.send({ op: 'seek', timeMs });
    if (wasPlaying) this.play(this.player.rate.peek());
  };

  /** A key that is held drags through time: pictures of each step would be asked for, and left, 30 times a second. */
  readonly onStep = (byMs: number): void => {
    const timeMs = Math.min(this.timeMs.peek() + byMs, serviceNowMs());
    const nowMs = performance.now();
    const isHeld = nowMs - this.#steppedMs < HELD_MS;
    this.#steppedMs = nowMs;
    if (!isHeld) {
      this.seek(timeMs);
      return;
    }
    clearTimeout(this.#held);
    this.onScrub(timeMs);
    this.#held = setTimeout(() => this.onRelease(this.timeMs.peek()), HELD_MS);
  };

  #endHeld(): void {
    if (this.#held === undefined) return;
    clearTimeout(this.#held);
    this.#held = undefined;
    this.#wasPlaying = null;
  }

  play(rate: number): void {
    this.#endHeld();
    this.player.send({ op: 'play', rate: this.player.mayPlay(rate) ? rate : 1 });
  }

  readonly pause = (): void => {
    this.#endHeld();
    this.player.send({ op: 'pause' });
  };

  readonly toggle = (): void => (this.isPlaying ? this.pause() : this.play(this.speed.peek()));

  setSpeed(speed: number): void {
    this.speed.value = speed;
    if (this.isPlaying) this.play(speed);
  }

  /** J and L: the same way again is twice as fast. */
  shuttle(direction: 1 | -1): void {
    const rate = this.player.rate.peek();
    const isSameWay = this.isPlaying && Math.sign(rate) === direction;
    const next = isSameWay ? Math.min(Math.max(Math.abs(rate), 0.5) * 2, MAX_RATE) : 1;
    if (this.player.mayPlay(direction * next)) this.play(direction * next);
  }

  stepFrame(direction: 1 | -1): void {
    this.#endHeld();
    this.player.send({ op: 'step', direction });
  }

  setSound(isOn: boolean): void {
    this.isSoundOn.value = isOn;
    this.player.send({ op: 'sound', isOn });
    if (isOn && this.isPlaying && this.player.rate.peek() === 1) this.play(1);
  }

  snapshot(): void {
    if (this.large.peek() !== '') this.player.send({ op: 'snapshot', camera: this.large.peek() });
  }

  readonly setStart = (): void => this.#select(withStart);
  readonly setEnd = (): void => this.#select(withEnd);

  /** To the next one that the address asks for (`what=label:person`, as on the page of events), or to any. */
  async toEvent(direction: 1 | -1): Promise<void> {
    const timeMs = this.timeMs.peek() + EARLY_MS + direction * 500;
    try {
      const found = await eventBeside(this.cameras.peek(), timeMs, direction, query.peek().get('what'));
      if (found === null) toast({ text: archiveText('noEvent') });
      else this.seek(found - EARLY_MS);
    } catch (fault) {
      toast({ text: asProblem(fault).detail });
    }
  }

  #select(change: (selection: Selection, timeMs: number) => Selection): void {
    this.selection.value = change(this.selection.peek(), Math.round(this.timeMs.peek()));
    const span = spanOf(this.selection.peek());
    if (span === null) return;
    const [from, to] = span.map((timeMs) => this.zone.peek().clock(timeMs)) as [string, string];
    announce(archiveText('selected', { from, to, duration: durationText(span[1] - span[0]) }));
  }

  /** Where play is stays in sight, unless somebody looks elsewhere. */
  #follow(timeMs: number): void {
    if (timeMs === 0 || this.#wasPlaying !== null) return;
    const view = this.view.peek();
    const isNear = timeMs > view.fromMs - view.spanMs && timeMs < endOf(view) + view.spanMs;
    if (isNear) this.view.value = following(view, timeMs);
  }

  #tellSkip(fromMs: number, toMs: number): void {
    const time = this.zone.peek().clock(toMs);
    toast({ text: archiveText('skipped', { duration: durationText(Math.abs(toMs - fromMs)), time }) });
  }

  #saveSnapshot(camera: string, blob: Blob | null, shownMs: number): void {
    const name = `${camera}_${new Date(shownMs).toISOString().replaceAll(':', '-')}.jpg`;
    if (blob === null) toast({ text: archiveText('noSnapshot') });
    else saveBlob(blob, name);
  }
}
