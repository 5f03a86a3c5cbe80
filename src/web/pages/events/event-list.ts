import { computed, signal } from '@preact/signals';
import { onHappening } from '../../data/happenings.js';
import type { KeptEvent } from '../../data/kept-event.js';
import {
  type EventFilter,
  eventsPath,
  loadEvents,
  loadMoreEvents,
  setProtected,
  setReviewed,
} from '../../data/kept-events.js';
import { asProblem, type Problem } from '../../data/problem.js';
import { groupEvents } from './group-events.js';
import { withNewest } from './merge-events.js';

const PAGE = 60;
/** Several at once are looked at together. */
const NEW_AFTER_MS = 700;
const MAX_SENT = 1_000;
/** As many stay when new ones come, unless somebody has scrolled farther. */
const KEPT = 300;

/** What happened, newest first, as far as somebody has scrolled; new ones come by themselves. */
export class EventList {
  readonly events = signal<readonly KeptEvent[]>([]);
  readonly groups = computed(() => groupEvents(this.events.value));
  readonly isLoading = signal(true);
  readonly problem = signal<Problem | null>(null);
  readonly next = signal<string | null>(null);
  /** Its times are those of now. */
  #filterNow: () => EventFilter = () => ({});
  #isDueWhenSeen = false;
  /** So many have been in sight. */
  #scrolled = 0;
  #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Reviews that are on their way, and those that were kept. */
  #reviewing = 0;
  #reviewed = 0;
  readonly #stop = onHappening((happening) => {
    if (happening.topic === 'reset') this.#soon();
    // Recordings that begin and end have ids of their own form.
    if (happening.topic !== 'events' || happening.id.includes('/')) return;
    const { id, set } = happening;
    if (this.events.peek().some((event) => event.id === id)) this.#change(new Set([id]), set);
    else this.#soon();
  });

  readonly #onSeen = (): void => {
    if (document.hidden || !this.#isDueWhenSeen) return;
    this.#isDueWhenSeen = false;
    this.#soon();
  };

  constructor() {
    document.addEventListener('visibilitychange', this.#onSeen);
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#onSeen);
    this.#stop();
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  /** Other filters: what was there stays until what fits them is. */
  async use(filterNow: () => EventFilter): Promise<void> {
    this.#filterNow = filterNow;
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal: aborted } = this.#abort;
    this.isLoading.value = true;
    try {
      const { events, next } = await loadEvents(filterNow(), PAGE, aborted);
      this.events.value = events;
      this.next.value = next;
      this.#scrolled = 0;
      this.problem.value = null;
    } catch (fault) {
      if (!aborted.aborted) this.problem.value = asProblem(fault);
    } finally {
      if (!aborted.aborted) this.isLoading.value = false;
    }
  }

  readonly again = (): Promise<void> => this.use(this.#filterNow);

  async more(): Promise<void> {
    const next = this.next.peek();
    if (next === null || this.isLoading.peek()) return;
    this.isLoading.value = true;
    const { signal: aborted } = this.#abort;
    try {
      const page = await loadMoreEvents(next, aborted);
      const known = new Set(this.events.peek().map(({ id }) => id));
      this.events.value = [...this.events.peek(), ...page.events.filter(({ id }) => !known.has(id))];
      this.next.value = page.next;
      this.#scrolled = this.events.peek().length;
    } catch (fault) {
      if (!aborted.aborted) this.problem.value = asProblem(fault);
    } finally {
      if (!aborted.aborted) this.isLoading.value = false;
    }
  }

  /** Shown at once; what could not be kept is as it was again. */
  async review(ids: readonly string[], isReviewed: boolean): Promise<void> {
    this.#reviewing += 1;
    let sent = 0;
    this.#change(new Set(ids), { reviewed: isReviewed });
    try {
      for (; sent < ids.length; sent += MAX_SENT)
        await setReviewed(ids.slice(sent, sent + MAX_SENT), isReviewed);
    } catch (fault) {
      this.#change(new Set(ids.slice(sent)), { reviewed: !isReviewed });
      this.problem.value = asProblem(fault);
    } finally {
      this.#reviewing -= 1;
      this.#reviewed += 1;
    }
  }

  async protect(ids: readonly string[], isProtected: boolean): Promise<boolean> {
    try {
      for (const id of ids) this.#change(new Set([id]), await setProtected(id, isProtected));
      return true;
    } catch (fault) {
      this.problem.value = asProblem(fault);
      return false;
    }
  }

  #change(ids: ReadonlySet<string>, set: object): void {
    // Who has reviewed it is another matter for each user: what happened to all doesn't say.
    this.events.value = this.events
      .peek()
      .map((event) => (ids.has(event.id) ? { ...event, ...set, id: event.id } : event));
  }

  #soon(): void {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#isDueWhenSeen = true;
      return;
    }
    this.#timer = setTimeout(() => void this.#addNew(), NEW_AFTER_MS);
  }

  async #addNew(): Promise<void> {
    const reviewed = this.#reviewed;
    try {
      const filter = this.#filterNow();
      const { events } = await loadEvents(filter, PAGE, this.#abort.signal);
      // It may say of them what they were before.
      if (this.#reviewing > 0 || reviewed !== this.#reviewed) return this.#soon();
      const most = Math.max(KEPT, this.#scrolled);
      const merged = withNewest(this.events.peek(), events, events.length === PAGE, most);
      if (merged === null) return await this.again();
      this.events.value = merged.events;
      const last = merged.events.at(-1);
      if (merged.isCut && last !== undefined)
        this.next.value = eventsPath({ ...filter, toMs: Date.parse(last.from) + 1 }, PAGE);
    } catch {
      // The next one that is told is looked at again.
    }
  }
}
