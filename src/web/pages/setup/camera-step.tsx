import { useState } from 'preact/hooks';
import { api } from '../../data/session.js';
import type { CameraTestResult, NewCamera } from '../../data/types.js';
import { Button } from '../../parts/button.js';
import { Field } from '../../parts/field.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { useAction } from '../../parts/use-action.js';
import { setupText } from '../../text/setup.js';
import styles from './setup.module.css';
import { TestResult } from './test-result.js';

/** Tests take 10 s at most, and may have to wait for others. */
const TEST_TIMEOUT_MS = 60_000;
const SUGGESTED_NAME = 'camera-1';

const testCamera = (url: string): Promise<CameraTestResult> =>
  api('POST', '/api/cameras/test', { body: { url, transport: 'tcp' }, timeoutMs: TEST_TIMEOUT_MS });

export const CameraStep = ({ onDone }: { readonly onDone: () => void }) => {
  const [url, setUrl] = useState('');
  const [id, setId] = useState(SUGGESTED_NAME);
  const [isRecorded, setIsRecorded] = useState(true);
  const [result, setResult] = useState<CameraTestResult | null>(null);
  const test = useAction(async () => {
    setResult(null);
    setResult(await testCamera(url.trim()));
  });
  const add = useAction(async () => {
    const camera: NewCamera = { id: id.trim(), url: url.trim(), record: isRecorded };
    await api('POST', '/api/cameras', { body: camera });
    onDone();
  });
  return (
    <form
      class={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        void (result?.ok === true ? add : test).run();
      }}
    >
      <p>{setupText('cameraText')}</p>
      <Field label={setupText('address')} hint={setupText('addressHint')}>
        {(given) => (
          <input
            {...given}
            name="url"
            value={url}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            required
            onInput={(event) => {
              setUrl(event.currentTarget.value);
              setResult(null);
            }}
          />
        )}
      </Field>
      {test.problem === null ? null : <ProblemBox what={setupText('testFailed')} problem={test.problem} />}
      {result === null ? null : <TestResult key={result.test_id} result={result} />}
      {result === null ? null : (
        <>
          <Field label={setupText('name')} hint={setupText('nameHint')}>
            {(given) => (
              <input
                {...given}
                name="camera"
                value={id}
                autocomplete="off"
                required
                onInput={(event) => setId(event.currentTarget.value)}
              />
            )}
          </Field>
          <label class={styles.check}>
            <input
              type="checkbox"
              checked={isRecorded}
              onChange={(event) => setIsRecorded(event.currentTarget.checked)}
            />
            {setupText('record')}
          </label>
        </>
      )}
      {add.problem === null ? null : <ProblemBox what={setupText('addFailed')} problem={add.problem} />}
      <p class={styles.buttons}>
        {result?.ok === true ? (
          <Button type="submit" kind="primary" isDisabled={add.isBusy}>
            {setupText('add')}
          </Button>
        ) : (
          <Button type="submit" kind="primary" isDisabled={test.isBusy}>
            {setupText(test.isBusy ? 'testing' : 'test')}
          </Button>
        )}
        {result?.ok === false ? (
          <Button isDisabled={add.isBusy} onClick={() => void add.run()}>
            {setupText('addUntested')}
          </Button>
        ) : null}
        <Button kind="quiet" onClick={onDone}>
          {setupText('skip')}
        </Button>
      </p>
    </form>
  );
};
