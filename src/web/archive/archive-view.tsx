import { useEffect, useState } from 'preact/hooks';
import { outage } from '../data/connection.js';
import type { ExportItem } from '../data/exports.js';
import { isOffline } from '../data/problem.js';
import { navigate } from '../data/route.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Field } from '../parts/field.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Banner } from '../parts/states.js';
import { toast } from '../parts/toasts.js';
import { archiveText } from '../text/archive.js';
import styles from './archive.module.css';
import { ArchiveControl } from './archive-control.js';
import { ArchiveTiles } from './archive-tile.js';
import { ExportDialog } from './export-dialog.js';
import { EMPTY_LANE } from './tape/lane.js';
import { isEmpty, spanOf } from './tape/selection.js';
import { Tape } from './tape/tape.js';
import { Transport, useArchiveKeys } from './transport.js';

/** A control for as long as a part is drawn. */
export const useArchiveControl = (): ArchiveControl => {
  const [control] = useState(() => new ArchiveControl());
  useEffect(() => () => control.close(), []);
  return control;
};

/** Link to the moment: copied where pages may, else shown to be copied by hand. */
const useLink = (control: ArchiveControl) => {
  const [shown, setShown] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    const url = new URL('/archive', location.href);
    url.searchParams.set('cameras', control.cameras.peek().join());
    url.searchParams.set('large', control.large.peek());
    url.searchParams.set('span', String(Math.round(control.view.peek().spanMs / 1_000)));
    url.searchParams.set('t', new Date(control.timeMs.peek()).toISOString());
    try {
      await navigator.clipboard.writeText(url.href);
      toast({ text: archiveText('linkCopied') });
    } catch {
      setShown(url.href);
    }
  };
  const dialog =
    shown === null ? null : (
      <Dialog title={archiveText('linkShown')} onClose={() => setShown(null)}>
        <Field label={archiveText('link')}>
          {(given) => (
            <input {...given} readOnly value={shown} onFocus={(event) => event.currentTarget.select()} />
          )}
        </Field>
      </Dialog>
    );
  return { copy: () => void copy(), dialog };
};

const exportOf = (control: ArchiveControl): { items: ExportItem[]; missing: string[] } | null => {
  const span = spanOf(control.selection.peek());
  if (span === null) return null;
  const [fromMs, toMs] = span;
  const items: ExportItem[] = [];
  const missing: string[] = [];
  for (const camera of control.cameras.peek().filter((id) => control.exists(id)))
    if (isEmpty(control.lanes.peek().get(camera) ?? EMPTY_LANE, span)) missing.push(camera);
    else items.push({ camera, fromMs, toMs });
  return { items, missing };
};

const GoDialog = ({
  control,
  onClose,
}: {
  readonly control: ArchiveControl;
  readonly onClose: () => void;
}) => {
  const zone = control.zone.peek();
  const nowMs = control.timeMs.peek();
  const [day, setDay] = useState(zone.dayOf(nowMs));
  const [time, setTime] = useState(zone.clock(nowMs, { withOffset: false }));
  const submit = (): void => {
    const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
    const timeMs = zone.momentOf(day, ((hours * 60 + minutes) * 60 + seconds) * 1_000);
    if (!Number.isNaN(timeMs)) control.goTo(timeMs);
    onClose();
  };
  return (
    <Dialog
      title={archiveText('goTo')}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <Button type="submit" kind="primary">
          {archiveText('go')}
        </Button>
      }
    >
      <Field label={archiveText('day')}>
        {(given) => (
          <input
            {...given}
            type="date"
            required
            value={day}
            onInput={(event) => setDay(event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={archiveText('tape')} hint={archiveText('goHint', { zone: zone.name })}>
        {(given) => (
          <input
            {...given}
            type="time"
            step="1"
            required
            value={time}
            onInput={(event) => setTime(event.currentTarget.value)}
          />
        )}
      </Field>
    </Dialog>
  );
};

/** Pictures, what moves them, and the tape. */
export const ArchiveView = ({
  control,
  onRemove = null,
}: {
  readonly control: ArchiveControl;
  readonly onRemove?: ((camera: string) => void) | null;
}) => {
  const [exported, setExported] = useState<ReturnType<typeof exportOf>>(null);
  const [isGoing, setIsGoing] = useState(false);
  const link = useLink(control);
  const actions = {
    onExport: () => {
      const wanted = exportOf(control);
      if (wanted === null) toast({ text: archiveText('exportSelectFirst') });
      else setExported(wanted);
    },
    onGoTo: () => setIsGoing(true),
    onLive: () => navigate(`/camera/${encodeURIComponent(control.large.peek())}`),
    onLink: link.copy,
  };
  useArchiveKeys(control, actions);
  const problem = control.timeline.problem.value;
  return (
    <div class={styles.view}>
      <ArchiveTiles control={control} onRemove={onRemove} />
      <div>
        {control.player.isFull ? null : <Banner tone="warn">{archiveText('compatible')}</Banner>}
        {problem === null || (isOffline(problem) && outage.value !== null) ? null : (
          <ProblemBox
            what={archiveText('reading')}
            problem={problem}
            onRetry={() => control.timeline.again()}
          />
        )}
        <Transport control={control} actions={actions} />
      </div>
      <Tape model={control} />
      {exported === null ? null : (
        <ExportDialog
          {...exported}
          names={new Map(control.names.peek().map(({ id, name }) => [id, name]))}
          zone={control.zone.peek()}
          onClose={() => setExported(null)}
        />
      )}
      {isGoing ? <GoDialog control={control} onClose={() => setIsGoing(false)} /> : null}
      {link.dialog}
    </div>
  );
};
