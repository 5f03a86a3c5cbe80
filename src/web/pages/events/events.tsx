import { useEffect, useRef, useState } from 'preact/hooks';
import { ExportDialog } from '../../archive/export-dialog.js';
import { zoneOf } from '../../archive/tape/zone.js';
import { cameraList, nameOf } from '../../data/cameras.js';
import type { ExportItem } from '../../data/exports.js';
import { loadEvent } from '../../data/kept-events.js';
import { asProblem, isAborted } from '../../data/problem.js';
import { query, setQuery } from '../../data/route.js';
import { may } from '../../data/session.js';
import { zone as siteZone } from '../../data/time.js';
import { Button } from '../../parts/button.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { EmptyState, Skeleton } from '../../parts/states.js';
import { toast } from '../../parts/toasts.js';
import { useShortcuts } from '../../parts/use-shortcuts.js';
import { eventsText } from '../../text/events.js';
import type { PageProps } from '../table.js';
import { clearFilters, EventBar, filterOfAddress, filterText, hiddenBy } from './event-bar.js';
import { EventCard } from './event-card.js';
import { EventDetail, rangeOf } from './event-detail.js';
import { EventList } from './event-list.js';
import styles from './events.module.css';
import { type EventGroup, groupEvents, holds } from './group-events.js';

/** As the service takes at once. */
const MAX_EXPORTED = 36;
const MAX_EXPORTED_MS = 24 * 3_600_000;

const exportOf = (group: EventGroup): ExportItem => {
  const [fromMs, toMs] = rangeOf(group);
  return { camera: group.camera, fromMs, toMs: Math.min(toMs, fromMs + MAX_EXPORTED_MS) };
};

/** What an export of them is without: it is evidence, perhaps. */
const leftOut = (groups: readonly EventGroup[]): string[] => {
  const count = groups.length - MAX_EXPORTED;
  const isLong = groups.some((group) => rangeOf(group)[1] - rangeOf(group)[0] > MAX_EXPORTED_MS);
  return [
    ...(count > 0 ? [eventsText('exportLeft', { most: MAX_EXPORTED, count })] : []),
    ...(isLong ? [eventsText('exportCut')] : []),
  ];
};

const open = (group: EventGroup | null): void => setQuery({ open: group?.id ?? null });

const idsOf = (groups: readonly EventGroup[], wants: (isReviewed: boolean) => boolean): string[] =>
  groups.flatMap(({ events }) => events.filter(({ reviewed }) => wants(reviewed)).map(({ id }) => id));

/** Marks them, and takes it back if that was a slip. */
const review = (list: EventList, groups: readonly EventGroup[], isReviewed: boolean): void => {
  const ids = idsOf(groups, (reviewed) => reviewed !== isReviewed);
  if (ids.length === 0 || !may('events.review')) return;
  void list.review(ids, isReviewed);
  toast({
    text: eventsText(isReviewed ? 'reviewedToast' : 'unreviewedToast', { count: ids.length }),
    undo: () => void list.review(ids, !isReviewed),
  });
};

const protect = async (list: EventList, group: EventGroup): Promise<void> => {
  const isProtected = !group.isProtected;
  const ids = group.events.map(({ id }) => id);
  if (await list.protect(ids, isProtected))
    toast({ text: eventsText(isProtected ? 'protectedToast' : 'unprotectedToast') });
};

/** The card that has the focus, else the one that is open. */
const currentOf = (groups: readonly EventGroup[], openId: string | null): EventGroup | null => {
  const id = document.activeElement?.closest<HTMLElement>('[data-event]')?.dataset['event'] ?? openId;
  return groups.find((group) => holds(group, id)) ?? null;
};

const focusBeside = (by: 1 | -1): void => {
  const cards = [...document.querySelectorAll<HTMLElement>('[data-event] > button')];
  const at = cards.findIndex(
    (card) => card === document.activeElement || card.getAttribute('aria-current') === 'true',
  );
  cards[at < 0 ? 0 : Math.min(Math.max(at + by, 0), cards.length - 1)]?.focus();
};

const useEventKeys = (
  list: EventList,
  openId: string | null,
  toggleSelected: (group: EventGroup) => void,
): void => {
  const current = (): EventGroup | null => currentOf(list.groups.peek(), openId);
  const withCurrent = (run: (group: EventGroup) => void) => () => {
    const group = current();
    if (group !== null) run(group);
  };
  useShortcuts({
    title: eventsText('keys'),
    shortcuts: [
      { keys: ['x'], does: eventsText('keySelect'), run: withCurrent(toggleSelected) },
      {
        keys: ['r'],
        does: eventsText('keyReview'),
        run: withCurrent((group) => review(list, [group], !group.isReviewed)),
      },
      { keys: ['n'], does: eventsText('keyNext'), run: () => focusBeside(1) },
      { keys: ['p'], does: eventsText('keyPrevious'), run: () => focusBeside(-1) },
      { keys: ['Escape'], does: eventsText('keyOpen'), run: () => open(null) },
    ],
  });
};

/** What comes when the end of the list comes into sight. */
const More = ({ list }: { readonly list: EventList }) => {
  const end = useRef<HTMLDivElement>(null);
  const next = list.next.value;
  useEffect(() => {
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true) void list.more();
      },
      { rootMargin: '400px' },
    );
    if (end.current !== null) observer.observe(end.current);
    return () => observer.disconnect();
  }, [next]);
  return (
    <div ref={end}>
      {next === null ? null : <Button onClick={() => void list.more()}>{eventsText('more')}</Button>}
    </div>
  );
};

const useList = (): EventList => {
  const [list] = useState(() => new EventList());
  const asked = filterText();
  useEffect(() => void list.use(filterOfAddress), [asked]);
  useEffect(() => () => list.close(), []);
  return list;
};

/**
 * The card that is open: of the list, or asked for alone where the list doesn't have it. What was opened stays open,
 * whatever the list shows by now.
 */
const useOpened = (list: EventList, openId: string | null): EventGroup | null => {
  const last = useRef<EventGroup | null>(null);
  const [alone, setAlone] = useState<EventGroup | null>(null);
  const listed = list.groups.value.find((group) => holds(group, openId));
  const kept = [last.current, alone].find((group) => group !== null && holds(group, openId));
  const opened = listed ?? kept ?? null;
  last.current = opened;
  const isAsked = opened === null && openId !== null && !list.isLoading.value;
  useEffect(() => {
    if (!isAsked || openId === null) return;
    const abort = new AbortController();
    loadEvent(openId, abort.signal)
      .then((event) => setAlone(groupEvents([event])[0] ?? null))
      .catch((fault: unknown) => isAborted(fault) || toast({ text: asProblem(fault).detail }));
    return () => abort.abort();
  }, [isAsked, openId]);
  return opened;
};

const Cards = ({
  list,
  openId,
  selected,
  onSelect,
}: {
  readonly list: EventList;
  readonly openId: string | null;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (group: EventGroup) => void;
}) => {
  const groups = list.groups.value;
  const zone = zoneOf(siteZone.value);
  if (groups.length === 0) {
    if (list.isLoading.value)
      return (
        <div class={styles.scroll}>
          <Skeleton />
        </div>
      );
    return list.problem.value === null ? <Nothing /> : null;
  }
  return (
    <div class={styles.scroll}>
      <ul class={styles.cards} aria-label={eventsText('list')}>
        {groups.map((group) => (
          <EventCard
            key={group.events.at(-1)?.id}
            group={group}
            zone={zone}
            isOpen={holds(group, openId)}
            isSelected={group.events.some(({ id }) => selected.has(id))}
            onOpen={() => open(holds(group, openId) ? null : group)}
            onSelect={() => onSelect(group)}
          />
        ))}
      </ul>
      <More list={list} />
    </div>
  );
};

const Nothing = () => {
  const by = hiddenBy();
  return (
    <EmptyState icon="bell" text={eventsText(by === null ? 'noneAtAll' : `none_${by}`)}>
      {by === null ? null : <Button onClick={clearFilters}>{eventsText('clearFilters')}</Button>}
    </EmptyState>
  );
};

/** What happened: found, looked at, ticked off, taken along. */
export const page = (_props: PageProps) => {
  const list = useList();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [exported, setExported] = useState<readonly EventGroup[] | null>(null);
  const groups = list.groups.value;
  const openId = query.value.get('open');
  const opened = useOpened(list, openId);
  const chosen = groups.filter(
    ({ events, camera }) => events.some(({ id }) => selected.has(id)) && camera !== '',
  );
  const fresh = idsOf(groups, (isReviewed) => !isReviewed).length;
  const toggleSelected = ({ id, events }: EventGroup): void => {
    const next = new Set(selected);
    const was = events.filter((event) => next.delete(event.id));
    if (was.length === 0) next.add(id);
    setSelected(next);
  };
  useEventKeys(list, openId, toggleSelected);
  const labels = [...new Set(groups.map(({ label }) => label).filter((label) => label !== ''))];
  return (
    <div class={`${styles.page} ${opened === null ? '' : styles.opened}`}>
      <header class={styles.bar}>
        <h1>{eventsText('title')}</h1>
        <EventBar labels={labels} />
        <span class={styles.actions}>
          {may('events.review') && fresh > 0 ? (
            <Button icon="check" onClick={() => review(list, groups, true)}>
              {eventsText('reviewAll', { count: fresh })}
            </Button>
          ) : null}
          {chosen.length > 0 && may('archive.read') ? (
            <Button icon="download" kind="primary" onClick={() => setExported(chosen)}>
              {eventsText('export', { count: chosen.length })}
            </Button>
          ) : null}
        </span>
      </header>
      {list.problem.value === null ? null : (
        <div class={styles.problem}>
          <ProblemBox
            what={eventsText('reading')}
            problem={list.problem.value}
            onRetry={() => void list.again()}
          />
        </div>
      )}
      <div class={styles.body}>
        <Cards list={list} openId={openId} selected={selected} onSelect={toggleSelected} />
        {opened === null ? null : (
          <EventDetail
            group={opened}
            openId={openId ?? opened.id}
            onClose={() => open(null)}
            onReview={() => review(list, [opened], !opened.isReviewed)}
            onProtect={() => void protect(list, opened)}
          />
        )}
      </div>
      {exported === null ? null : (
        <ExportDialog
          items={exported.slice(0, MAX_EXPORTED).map(exportOf)}
          missing={[]}
          notes={leftOut(exported)}
          names={new Map(cameraList.peek().map((camera) => [camera.id, nameOf(camera)]))}
          zone={zoneOf(siteZone.peek())}
          onClose={() => setExported(null)}
        />
      )}
    </div>
  );
};
