import { computed, effect, untracked } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { ArchiveControl } from '../../archive/archive-control.js';
import { ArchiveView, useArchiveControl } from '../../archive/archive-view.js';
import { endOf } from '../../archive/tape/axis.js';
import { cameraList, camerasProblem, cameras as knownCameras, loadCameras } from '../../data/cameras.js';
import { path, query, setQuery } from '../../data/route.js';
import { serviceNowMs } from '../../data/service-clock.js';
import { may } from '../../data/session.js';
import { addDays } from '../../data/zones.js';
import { Button, LinkButton } from '../../parts/button.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { EmptyState, Skeleton } from '../../parts/states.js';
import { archiveText } from '../../text/archive.js';
import type { PageProps } from '../table.js';
import styles from './archive-page.module.css';
import { CameraPicker } from './camera-picker.js';

const WRITE_AFTER_MS = 600;
/** Without a moment in the address: what was a moment ago is on the disk. */
const BEFORE_NOW_MS = 20_000;
const MIN_SPAN_SEC = 2;

const momentOf = (text: string | null): number | null => {
  const timeMs = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(timeMs) ? null : Math.min(timeMs, serviceNowMs());
};

// What else is told of cameras, all the time, is no reason to show what the address says.
const isKnown = computed(() => knownCameras.value !== null);
const firstId = computed(() => cameraList.value[0]?.id ?? null);
const first = computed(() => (firstId.value === null ? [] : [firstId.value]));

/** The address says which cameras, when, and how much of the tape; what is done here is said there. */
const followAddress = (control: ArchiveControl): (() => void) => {
  let written = '';
  const show = (given: URLSearchParams, ids: readonly string[]): void => {
    control.show(ids, given.get('large') ?? undefined);
    const at = given.get('t');
    if (at !== null && at === written) return;
    written = at ?? '';
    const timeMs = momentOf(at) ?? serviceNowMs() - BEFORE_NOW_MS;
    const spanSec = Number(given.get('span'));
    if (spanSec >= MIN_SPAN_SEC) control.goTo(timeMs, spanSec * 1_000);
    else {
      control.showDay(control.zone.peek().dayOf(timeMs));
      control.seek(timeMs);
    }
  };
  const stopRead = effect(() => {
    const given = query.value;
    const ids = (given.get('cameras') ?? '').split(',').filter((id) => id !== '');
    // The address of the page that comes next says nothing to this one, which is left in a moment.
    if (!isKnown.value || !path.peek().startsWith('/archive')) return;
    const shown = ids.length > 0 ? ids : first.value;
    untracked(() => show(given, shown));
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stopWrite = effect(() => {
    const timeMs = control.timeMs.value;
    const { spanMs } = control.view.value;
    const large = control.large.value;
    if (timeMs === 0 || control.isPlaying) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      written = new Date(timeMs).toISOString();
      setQuery(
        {
          cameras: control.cameras.peek().join() || null,
          t: written,
          large,
          span: String(Math.round(spanMs / 1_000)),
        },
        { isReplaced: true },
      );
    }, WRITE_AFTER_MS);
  });
  return () => {
    clearTimeout(timer);
    stopRead();
    stopWrite();
  };
};

const Days = ({ control }: { readonly control: ArchiveControl }) => {
  const zone = control.zone.value;
  const view = control.view.value;
  const day = zone.dayOf((view.fromMs + endOf(view)) / 2);
  const today = zone.dayOf(serviceNowMs());
  const show = (next: string): void => control.showDay(next > today ? today : next);
  return (
    <div class={styles.days}>
      <Button icon="left" label={archiveText('previousDay')} onClick={() => show(addDays(day, -1))} />
      <input
        class={styles.day}
        type="date"
        aria-label={archiveText('day')}
        value={day}
        max={today}
        onChange={(event) => event.currentTarget.value !== '' && show(event.currentTarget.value)}
      />
      <Button
        icon="right"
        label={archiveText('nextDay')}
        isDisabled={day >= today}
        onClick={() => show(addDays(day, 1))}
      />
      <span class={styles.zone}>{zone.name}</span>
    </div>
  );
};

/** Recordings of up to nine cameras, at any moment. */
export const page = (_props: PageProps) => {
  const control = useArchiveControl();
  const [isChoosing, setIsChoosing] = useState(false);
  useEffect(() => followAddress(control), []);
  const choose = (cameras: readonly string[]): void => {
    setIsChoosing(false);
    setQuery({ cameras: cameras.join() });
  };
  const chosen = control.cameras.value;
  return (
    <div class={styles.page}>
      <header class={styles.bar}>
        <h1>{archiveText('title')}</h1>
        <Days control={control} />
        <span class={styles.end}>
          <Button icon="cctv" onClick={() => setIsChoosing(true)}>
            {archiveText('cameras')} {chosen.length > 0 ? chosen.length : null}
          </Button>
        </span>
      </header>
      {chosen.length > 0 ? (
        <ArchiveView
          control={control}
          onRemove={(camera) => choose(chosen.filter((each) => each !== camera))}
        />
      ) : (
        <Nothing onChoose={() => setIsChoosing(true)} />
      )}
      {isChoosing ? (
        <CameraPicker chosen={chosen} onChoose={choose} onClose={() => setIsChoosing(false)} />
      ) : null}
    </div>
  );
};

const Nothing = ({ onChoose }: { readonly onChoose: () => void }) => {
  if (knownCameras.value === null)
    return camerasProblem.value === null ? (
      <Skeleton />
    ) : (
      <ProblemBox
        what={archiveText('cameras')}
        problem={camerasProblem.value}
        onRetry={() => void loadCameras()}
      />
    );
  if (knownCameras.value.size > 0)
    return (
      <EmptyState icon="cctv" text={archiveText('noCamera')}>
        <Button onClick={onChoose}>{archiveText('chooseCameras')}</Button>
      </EmptyState>
    );
  return (
    <EmptyState icon="cctv" text={archiveText('noCameras')}>
      {may('cameras.edit') ? <LinkButton href="/cameras">{archiveText('addCamera')}</LinkButton> : null}
    </EmptyState>
  );
};
