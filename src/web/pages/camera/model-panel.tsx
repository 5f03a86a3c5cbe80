import { useEffect, useState } from 'preact/hooks';
import { sizeText } from '../../data/exports.js';
import { listModels } from '../../data/models.js';
import { Problem } from '../../data/problem.js';
import { query, setQuery } from '../../data/route.js';
import type { Model } from '../../data/types.js';
import type { ModelFault } from '../../model/model-messages.js';
import { ModelRun, type ModelState } from '../../model/model-run.js';
import { Button } from '../../parts/button.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Select } from '../../parts/select.js';
import { EmptyState } from '../../parts/states.js';
import { UntilKnown } from '../../parts/until-known.js';
import { useLoaded } from '../../parts/use-action.js';
import type { LiveTile } from '../../player/live-tile.js';
import { modelText } from '../../text/model.js';
import styles from './model-panel.module.css';

const failures: Readonly<Record<ModelFault, () => string>> = {
  runtime: () => modelText('failedRuntime'),
  model: () => modelText('failedModel'),
  kind: () => modelText('failedKind'),
};

type Of<Is extends ModelState['is']> = Extract<ModelState, { is: Is }>;

const Loading = ({ state, model }: { readonly state: Of<'loading'>; readonly model: Model }) => {
  const all = sizeText(model.size_bytes);
  const ofModel = modelText('bytes', { size: sizeText(state.modelBytes), all });
  return (
    <div class={styles.loading}>
      <span>{modelText('runtime', { size: sizeText(state.runtimeBytes) })}</span>
      <span>{ofModel}</span>
      <progress aria-label={ofModel} max={model.size_bytes} value={state.modelBytes} />
    </div>
  );
};

const Looking = ({ figures, objects }: Of<'looking'>) => {
  const { tookMs, perSecond, ageMs } = figures;
  const age =
    ageMs === null ? modelText('unknown') : modelText('seconds', { value: (ageMs / 1_000).toFixed(1) });
  const rows = [
    [modelText('took'), modelText('ms', { value: Math.round(tookMs) })],
    [modelText('perSecond'), perSecond.toFixed(1)],
    [modelText('age'), age],
  ];
  return (
    <>
      <dl class={styles.figures}>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>{modelText('objects')}</h3>
      {objects.length === 0 ? (
        <p>{modelText('nothing')}</p>
      ) : (
        <ul class={styles.objects}>
          {objects.map(({ label, score }, index) => (
            <li key={`${label} ${index}`}>
              {modelText('object', { label, percent: Math.round(score * 100) })}
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

const Run = ({ model, tile }: { readonly model: Model; readonly tile: LiveTile }) => {
  const [run, setRun] = useState<ModelRun | null>(null);
  useEffect(() => {
    const made = new ModelRun(model, tile);
    setRun(made);
    return () => made.close();
  }, [model, tile]);
  if (run === null) return null;
  const state = run.state.value;
  if (state.is === 'loading') return <Loading state={state} model={model} />;
  if (state.is === 'looking') return <Looking {...state} />;
  if (state.is !== 'failed') return <p>{modelText(state.is)}</p>;
  const detail = state.detail === '' ? modelText('notLoaded') : state.detail;
  const problem = new Problem({ status: -1, code: 'model', detail });
  return <ProblemBox what={failures[state.fault]()} problem={problem} onRetry={() => run.retry()} />;
};

const Chosen = ({
  name,
  models,
  tile,
}: {
  readonly name: string;
  readonly models: readonly Model[];
  readonly tile: LiveTile | null;
}) => {
  const model = models.find((each) => each.name === name);
  if (name === '') return null;
  if (model === undefined) return <EmptyState icon="search" text={modelText('gone', { name })} />;
  return (
    <>
      {model.problem === '' ? null : (
        <p class={styles.hint}>{modelText('undescribed', { why: model.problem })}</p>
      )}
      {tile === null ? null : <Run key={name} model={model} tile={tile} />}
    </>
  );
};

/** A model of the service, run by this browser on what the tile shows. */
export const ModelPanel = ({ tile }: { readonly tile: LiveTile | null }) => {
  const { value: models, problem, reload } = useLoaded(listModels);
  const name = query.value.get('model') ?? '';
  const choose = (model: string | null): void => setQuery({ model }, { isReplaced: true });
  return (
    <aside class={styles.panel} aria-label={modelText('open')}>
      <header class={styles.head}>
        <h2>{modelText('title')}</h2>
        <Button icon="close" kind="quiet" label={modelText('close')} onClick={() => choose(null)} />
      </header>
      {models === null ? (
        <UntilKnown what={modelText('reading')} problem={problem} onRetry={reload} />
      ) : models.length === 0 ? (
        <EmptyState icon="cpu" text={modelText('none')} />
      ) : (
        <>
          <Select
            label={modelText('model')}
            value={models.some((each) => each.name === name) ? name : ''}
            options={[
              { value: '', label: modelText('choose') },
              ...models.map((each) => ({ value: each.name, label: each.name.replace(/\.onnx$/, '') })),
            ]}
            onChange={choose}
          />
          <Chosen name={name} models={models} tile={tile} />
          <p class={styles.hint}>{modelText('hint')}</p>
        </>
      )}
    </aside>
  );
};
