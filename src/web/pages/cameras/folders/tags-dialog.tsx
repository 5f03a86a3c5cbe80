import { useState } from 'preact/hooks';
import { cameraList, loadCameras, tags } from '../../../data/cameras.js';
import { asProblem, type Problem } from '../../../data/problem.js';
import { api } from '../../../data/session.js';
import type { Tag } from '../../../data/types.js';
import { Button } from '../../../parts/button.js';
import { confirm } from '../../../parts/confirm.js';
import { Dialog } from '../../../parts/dialog.js';
import { ProblemBox } from '../../../parts/problem-box.js';
import { tagText } from '../../../text/folders.js';
import { shellText } from '../../../text/shell.js';
import { IdSuggestions } from '../many/suggest-ids.js';
import styles from './folders.module.css';

const FIRST_COLOR = '#5cb3ff';

const countOf = (id: string): number => cameraList.value.filter((camera) => camera.tags.includes(id)).length;

const TagLine = ({
  tag,
  run,
}: {
  readonly tag: Tag;
  readonly run: (act: () => Promise<unknown>) => void;
}) => {
  const { id, name, color } = tag;
  const change = (body: Partial<Tag>): void => run(() => api('PUT', `/api/tags/${id}`, { body }));
  const remove = async (): Promise<void> => {
    const isSo = await confirm({
      title: tagText('deleteTitle', { name }),
      text: tagText('deleteText', { count: countOf(id) }),
      action: tagText('deleteAction'),
      isDangerous: true,
    });
    if (isSo) run(() => api('DELETE', `/api/tags/${id}`));
  };
  return (
    <li class={styles.tag}>
      <input
        type="color"
        value={color.toLowerCase()}
        aria-label={tagText('color', { name })}
        onChange={(event) => change({ color: event.currentTarget.value })}
      />
      <input
        class={styles.text}
        value={name}
        maxLength={128}
        aria-label={tagText('nameOf', { name })}
        onChange={(event) => {
          const wanted = event.currentTarget.value.trim();
          if (wanted === '') event.currentTarget.value = name;
          else change({ name: wanted });
        }}
      />
      <small>{tagText('count', { count: countOf(id) })}</small>
      <Button icon="remove" kind="quiet" label={tagText('remove', { name })} onClick={() => void remove()} />
    </li>
  );
};

/** All tags: what is changed counts at once. */
export const TagsDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState('');
  const [color, setColor] = useState(FIRST_COLOR);
  const [problem, setProblem] = useState<Problem | null>(null);
  const run = (act: () => Promise<unknown>): void => {
    setProblem(null);
    act()
      .then(loadCameras)
      .catch((fault: unknown) => setProblem(asProblem(fault)));
  };
  const add = (): void => {
    const id = new IdSuggestions(tags.peek().map((tag) => tag.id)).suggest(name.trim() || 'tag');
    run(() => api('POST', '/api/tags', { body: { id, name: name.trim(), color } }).then(() => setName('')));
  };
  return (
    <Dialog
      title={tagText('title')}
      onClose={onClose}
      onSubmit={() => name.trim() !== '' && add()}
      footer={<Button onClick={onClose}>{shellText('done')}</Button>}
    >
      {problem === null ? null : <ProblemBox what={tagText('saving')} problem={problem} />}
      {tags.value.length === 0 ? <p>{tagText('none')}</p> : null}
      <ul class={styles.tags}>
        {tags.value.map((tag) => (
          <TagLine key={tag.id} tag={tag} run={run} />
        ))}
        <li class={styles.tag}>
          <input
            type="color"
            value={color}
            aria-label={tagText('newColor')}
            onChange={(event) => setColor(event.currentTarget.value)}
          />
          <input
            class={styles.text}
            value={name}
            maxLength={128}
            placeholder={tagText('newName')}
            aria-label={tagText('newName')}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" icon="plus" isDisabled={name.trim() === ''}>
            {tagText('add')}
          </Button>
        </li>
      </ul>
    </Dialog>
  );
};
