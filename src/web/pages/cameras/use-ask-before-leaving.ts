import { useEffect } from 'preact/hooks';
import { beforeLeaving } from '../../data/route.js';
import { confirm } from '../../parts/confirm.js';

type Question = { readonly title: string; readonly text: string; readonly action: string };

/** Whoever leaves what isn't saved is asked, however they leave; what comes back asks where it is left by a button. */
export const useAskBeforeLeaving = (isChanged: boolean, question: Question): (() => Promise<boolean>) => {
  const ask = (): Promise<boolean> => confirm({ ...question, isDangerous: true });
  useEffect(() => {
    if (!isChanged) return;
    const onUnload = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', onUnload);
    let isAsking = false;
    let isAnswered = false;
    const forget = beforeLeaving((leave) => {
      if (isAnswered) return true;
      if (isAsking) return false;
      isAsking = true;
      void ask().then((isSo) => {
        isAsking = false;
        isAnswered = isSo;
        if (isSo) leave();
      });
      return false;
    });
    return () => {
      removeEventListener('beforeunload', onUnload);
      forget();
    };
  }, [isChanged]);
  return async () => !isChanged || (await ask());
};
