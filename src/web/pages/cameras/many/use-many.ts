import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { testCamera } from '../../../data/camera-tests.js';
import { cameras, folders, loadCameras, tags } from '../../../data/cameras.js';
import { asProblem, type Problem } from '../../../data/problem.js';
import { api } from '../../../data/session.js';
import { toast } from '../../../parts/toasts.js';
import { manyText } from '../../../text/add-many.js';
import { type CommonSettings, noSettings, settingsOf } from './common-fields.js';
import type { Parsed } from './items.js';
import { parseLines } from './parse-lines.js';
import { addressesOf, indexOfFault, type PlannedLine, planOf } from './plan.js';
import { TestQueue, type TestSource } from './test-queue.js';

/** A queue that draws its dialog anew, and ends with it; what changes in the same moment is drawn once. */
const useTestQueue = (): TestQueue => {
  const [, setChanges] = useState(0);
  const queue = useRef<TestQueue | undefined>(undefined);
  const isDrawing = useRef(false);
  queue.current ??= new TestQueue({
    test: testCamera,
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onChange: () => {
      if (isDrawing.current) return;
      isDrawing.current = true;
      requestAnimationFrame(() => {
        isDrawing.current = false;
        setChanges((count) => count + 1);
      });
    },
  });
  useEffect(() => () => queue.current?.close(), []);
  return queue.current;
};

const withCommon = (parsed: Parsed, common: CommonSettings): Parsed => {
  const settings = settingsOf(common);
  const items = parsed.items.map((item) => ({ ...item, camera: { ...settings, ...item.camera } }));
  return { ...parsed, items };
};

type Failure = { readonly problem: Problem; readonly refusals: ReadonlyMap<string, string> };
const noRefusals: ReadonlyMap<string, string> = new Map();

const failureOf = (fault: unknown, sent: readonly PlannedLine[]): Failure => {
  const problem = asProblem(fault);
  const refusals = new Map<string, string>();
  for (const { path, message } of problem.faults) {
    const line = sent[indexOfFault(path) ?? -1];
    if (line !== undefined)
      refusals.set(line.item.source, `${path.replace(/^create\[\d+\]\.?/, '')}: ${message}`);
  }
  return { problem, refusals };
};

const askedOf = ({ item }: PlannedLine): TestSource[] => addressesOf(item).map(({ asked }) => asked);

/** All that the dialog knows: what was pasted, what came of it, how it was tested, and saving it. */
export const useMany = (folderId: string, onDone: () => void) => {
  const [text, setText] = useState('');
  const [common, setCommon] = useState(() => noSettings(folderId));
  const [mended, setMended] = useState<ReadonlyMap<string, string>>(new Map());
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSaving, setIsSaving] = useState(false);
  const queue = useTestQueue();
  // Which cameras there are changes all the time; that matters when something is pasted, or was saved.
  const [savedCount, setSavedCount] = useState(0);
  const { prefix, user, password } = common;
  const parsed = useMemo(() => {
    const known = {
      cameras: cameras.peek()?.values() ?? [],
      folders: folders.peek(),
      tags: tags.peek(),
    };
    return parseLines(text, known, { prefix, user, password, mended });
  }, [text, prefix, user, password, mended, savedCount]);
  const whole = useMemo(() => withCommon(parsed, common), [parsed, common]);
  const plan = planOf(whole.items, (source) => queue.stateOf(source), chosen);

  const save = async (): Promise<void> => {
    const sent = plan.taken;
    setIsSaving(true);
    setFailure(null);
    try {
      await api('POST', '/api/cameras/bulk', { body: { create: sent.map(({ item }) => item.camera) } });
      await loadCameras();
      const isAll = sent.length === plan.lines.length && parsed.faults.length === 0;
      toast({ text: manyText(isAll ? 'saved' : 'savedSome', { count: sent.length }) });
      if (isAll) onDone();
      else setSavedCount((count) => count + sent.length);
    } catch (fault) {
      setFailure(failureOf(fault, sent));
    } finally {
      setIsSaving(false);
    }
  };

  const mend = (pairs: readonly (readonly [source: string, url: string])[]): void => {
    setMended(new Map([...mended, ...pairs]));
    const moved = new Map(pairs);
    const addresses = plan.lines.flatMap(({ item }) => addressesOf(item));
    queue.add(
      addresses.flatMap(({ source, asked }) => {
        const url = moved.get(source);
        return url === undefined ? [] : [{ ...asked, url }];
      }),
    );
  };

  return {
    ...{ text, common, setCommon, parsed, plan, queue, mend, save, isSaving, failure },
    refusals: failure?.refusals ?? noRefusals,
    setText: (next: string) => {
      setFailure(null);
      setText(next);
    },
    testAll: () => queue.add(plan.testable.flatMap(askedOf)),
    retry: (line: PlannedLine) => queue.add(askedOf(line), true),
    take: (source: string, isTaken: boolean) => setChosen(new Map([...chosen, [source, isTaken]])),
  };
};
