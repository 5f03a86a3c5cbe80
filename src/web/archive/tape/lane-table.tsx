import { useEffect, useState } from 'preact/hooks';
import { archiveText, gapText } from '../../text/archive.js';
import { endOf, type View } from './axis.js';
import { boxAway } from './lane.js';
import type { TapeModel } from './tape-state.js';

const SETTLED_MS = 600;
const MAX_ROWS = 200;

type Row = {
  readonly camera: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly state: string;
};

const rowsOf = (model: TapeModel, view: View): Row[] => {
  const rows = model.names.value.flatMap(({ id, name }) => {
    const lane = model.lanes.value.get(id);
    const recorded = lane?.recorded ?? [];
    const gaps = lane?.gaps ?? [];
    return [
      ...recorded.map(([fromMs, toMs]) => ({
        ...{ camera: name, fromMs, toMs },
        state: archiveText('recorded'),
      })),
      ...gaps.map(([fromMs, toMs, reason]) => ({
        ...{ camera: name, fromMs, toMs },
        state: gapText(reason, boxAway(reason)),
      })),
    ]
      .filter(({ fromMs, toMs }) => toMs > view.fromMs && fromMs < endOf(view))
      .sort((a, b) => a.fromMs - b.fromMs);
  });
  return rows.slice(0, MAX_ROWS);
};

/** The tape for those who don't see it. */
export const LaneTable = ({ model }: { readonly model: TapeModel }) => {
  const [rows, setRows] = useState<readonly Row[]>([]);
  const view = model.view.value;
  const lanes = model.lanes.value;
  useEffect(() => {
    const timer = setTimeout(() => setRows(rowsOf(model, view)), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [view, lanes]);
  const zone = model.zone.value;
  const shown = (timeMs: number): string => zone.dateAndClock(timeMs);
  return (
    // A table is as wide as it needs, whatever it is told: what hides it is around it.
    <div class="visually-hidden">
      <table>
        <caption>{archiveText('table')}</caption>
        <thead>
          <tr>
            <th scope="col">{archiveText('camera')}</th>
            <th scope="col">{archiveText('from')}</th>
            <th scope="col">{archiveText('to')}</th>
            <th scope="col">{archiveText('state')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.camera} ${row.fromMs} ${row.state}`}>
              <th scope="row">{row.camera}</th>
              <td>{shown(row.fromMs)}</td>
              <td>{shown(row.toMs)}</td>
              <td>{row.state}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};
