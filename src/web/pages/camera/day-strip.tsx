import { computed, type Signal, signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { endOf, type View } from '../../archive/tape/axis.js';
import { boxAway, EMPTY_LANE, labelsAt, stateAt } from '../../archive/tape/lane.js';
import { Tape } from '../../archive/tape/tape.js';
import { newSelection, type TapeModel } from '../../archive/tape/tape-state.js';
import { TimelineStore } from '../../archive/tape/timeline-store.js';
import { zoneOf } from '../../archive/tape/zone.js';
import { navigate } from '../../data/route.js';
import { serviceNowMs } from '../../data/service-clock.js';
import { zone } from '../../data/time.js';
import { archiveText, gapText } from '../../text/archive.js';

const DAY_MS = 86_400_000;
const LOOK_EVERY_MS = 2_000;
/** What is let go so near to now meant now. */
const LIVE_MS = 5_000;

/** Now stands so far from the end. */
const NOW_AT = 0.98;

const untilNow = (spanMs: number): View => ({ fromMs: serviceNowMs() - spanMs * NOW_AT, spanMs });

/** The last 24 hours of one camera, which move on; a moment that is chosen in them is shown by the archive. */
class DayModel implements TapeModel {
  readonly view: Signal<View> = signal(untilNow(DAY_MS));
  readonly timeMs = signal(serviceNowMs());
  readonly selection = newSelection();
  readonly timeline = new TimelineStore();
  readonly lanes = this.timeline.lanes;
  readonly names: TapeModel['names'];
  readonly large: TapeModel['large'];
  readonly zone = computed(() => zoneOf(zone.value));
  readonly #id: string;
  #isDragged = false;

  constructor(id: string, name: string) {
    this.#id = id;
    this.names = { value: [{ id, name }] };
    this.large = { value: id };
    this.timeline.use([id]);
  }

  /** Now goes on, and the view with it, unless somebody looks elsewhere. */
  look(): void {
    const view = this.view.peek();
    const isAtNow = endOf(view) >= this.timeMs.peek();
    if (!this.#isDragged) this.timeMs.value = serviceNowMs();
    if (isAtNow && !this.#isDragged) this.view.value = untilNow(view.spanMs);
    this.timeline.look(view.fromMs, endOf(view));
  }

  readonly describe = (_camera: string, timeMs: number): string => {
    if (timeMs > serviceNowMs() - LIVE_MS) return archiveText('live');
    const lane = this.lanes.value.get(this.#id) ?? EMPTY_LANE;
    const state = stateAt(lane, timeMs);
    if (state.kind === 'unknown') return archiveText('unknown');
    if (state.kind === 'recorded') return [archiveText('recorded'), ...labelsAt(lane, timeMs)].join(', ');
    return gapText(state.reason, boxAway(state.reason));
  };

  readonly onScrub = (timeMs: number): void => {
    this.#isDragged = true;
    this.timeMs.value = timeMs;
  };

  readonly onRelease = (timeMs: number): void => {
    this.#isDragged = false;
    this.#show(timeMs);
  };

  readonly onStep = (byMs: number): void => this.#show(serviceNowMs() + byMs);

  #show(timeMs: number): void {
    if (timeMs > serviceNowMs() - LIVE_MS) {
      this.timeMs.value = serviceNowMs();
      return;
    }
    const given = new URLSearchParams({ cameras: this.#id, t: new Date(timeMs).toISOString() });
    navigate(`/archive?${given}`);
  }
}

export const DayStrip = ({ id, name }: { readonly id: string; readonly name: string }) => {
  const [model] = useState(() => new DayModel(id, name));
  useEffect(() => {
    model.look();
    const timer = setInterval(() => document.hidden || model.look(), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return <Tape model={model} />;
};
