import type { TargetedInputEvent } from 'preact';
import { useState } from 'preact/hooks';

/** Of a field that counts as it is written, and stays as it is written until it is left, whatever else changes meanwhile. */
export const useAsWritten = (value: string, onWrite: (text: string) => void) => {
  const [text, setText] = useState<string | null>(null);
  return {
    value: text ?? value,
    onInput: ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => {
      setText(currentTarget.value);
      onWrite(currentTarget.value);
    },
    onBlur: () => setText(null),
  };
};
