import { useEffect, useState } from 'preact/hooks';
import { type Export, type ExportItem, saveFile, sizeText } from '../data/exports.js';
import { keepExport, leaveExport, openExport, type Planned } from '../data/planned-exports.js';
import { asProblem, isAborted, type Problem } from '../data/problem.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Skeleton } from '../parts/states.js';
import { archiveText } from '../text/archive.js';
import styles from './export-dialog.module.css';
import { durationText } from './tape/selection.js';
import type { Zone } from './tape/zone.js';

type Names = ReadonlyMap<string, string>;

const usePlan = (items: readonly ExportItem[]) => {
  const [plan, setPlan] = useState<Planned | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let opened: Planned | null = null;
    setProblem(null);
    if (items.length > 0)
      openExport(items, abort.signal)
        .then((planned) => {
          if (abort.signal.aborted) leaveExport(items, planned);
          else {
            opened = planned;
            setPlan(planned);
          }
        })
        .catch((fault: unknown) => isAborted(fault) || setProblem(asProblem(fault)));
    return () => {
      abort.abort();
      if (opened !== null) leaveExport(items, opened);
    };
  }, [tries]);
  const save = (url: string, name: string): void => {
    if (plan !== null) keepExport(items, plan);
    saveFile(url, name);
  };
  return { plan, problem, save, retry: () => setTries(tries + 1) };
};

const rangeText = (items: readonly ExportItem[], zone: Zone): string => {
  const fromMs = Math.min(...items.map((item) => item.fromMs));
  const toMs = Math.max(...items.map((item) => item.toMs));
  const duration = durationText(toMs - fromMs);
  const to = zone.dayOf(fromMs) === zone.dayOf(toMs) ? zone.clock(toMs) : zone.dateAndClock(toMs);
  return archiveText('exportRange', { from: zone.dateAndClock(fromMs), to, duration, zone: zone.name });
};

const Files = ({
  plan,
  names,
  onSave,
}: {
  readonly plan: Export;
  readonly names: Names;
  readonly onSave: (url: string, name: string) => void;
}) => (
  <ul class={styles.files}>
    {plan.files.map(({ camera_id: id, name, bytes, url, gaps, begins_at: begins }) => (
      <li key={`${id} ${begins} ${name}`} class={styles.file}>
        <span>
          {archiveText('exportFile', { camera: names.get(id) ?? id, size: sizeText(bytes) })}
          {gaps.length === 0 ? null : <small>{archiveText('exportGaps', { count: gaps.length })}</small>}
        </span>
        <Button
          icon="download"
          kind={plan.files.length === 1 ? 'primary' : 'plain'}
          onClick={() => onSave(url, name)}
        >
          {archiveText('exportOne')}
        </Button>
      </li>
    ))}
  </ul>
);

/** How large it is, and then what there is to download: an MP4 file each, and all of them as one zip. */
export const ExportDialog = ({
  items,
  missing,
  notes = [],
  names,
  zone,
  onClose,
}: {
  readonly items: readonly ExportItem[];
  /** Cameras of which nothing was recorded then. */
  readonly missing: readonly string[];
  /** What else isn't in it, in words. */
  readonly notes?: readonly string[];
  readonly names: Names;
  readonly zone: Zone;
  readonly onClose: () => void;
}) => {
  const { plan, problem, save, retry } = usePlan(items);
  const made = plan?.made ?? null;
  const zip = made?.zip ?? null;
  return (
    <Dialog
      title={archiveText('exportTitle')}
      onClose={onClose}
      footer={
        zip === null ? undefined : (
          <Button icon="download" kind="primary" onClick={() => save(zip.url, zip.name)}>
            {archiveText('exportAll', { size: sizeText(zip.bytes) })}
          </Button>
        )
      }
    >
      {items.length === 0 ? null : <p>{rangeText(items, zone)}</p>}
      {missing.map((camera) => (
        <p key={camera}>{archiveText('exportNothing', { camera: names.get(camera) ?? camera })}</p>
      ))}
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {problem === null ? null : (
        <ProblemBox what={archiveText('exportTitle')} problem={problem} onRetry={retry} />
      )}
      {plan === null && problem === null && items.length > 0 ? (
        <>
          <p>{archiveText('exportPlanning')}</p>
          <Skeleton bars={items.length} />
        </>
      ) : null}
      {plan?.left.map(({ item, why }) => (
        <p key={`${item.camera} ${item.fromMs}`}>
          {archiveText('exportLeftOut', {
            camera: names.get(item.camera) ?? item.camera,
            time: zone.dateAndClock(item.fromMs),
            why,
          })}
        </p>
      ))}
      {made === null ? null : (
        <>
          <Files plan={made} names={names} onSave={save} />
          <p class={styles.note}>
            {archiveText('exportUntil', {
              time: zone.clock(Date.parse(made.expires_at), { seconds: false }),
            })}
          </p>
        </>
      )}
    </Dialog>
  );
};
