import { useState } from 'preact/hooks';
import { takeFirstPassword } from '../../data/session.js';
import { setupText } from '../../text/setup.js';
import { PasswordForm } from '../me/password-form.js';

/** The printed password was typed a moment ago: nobody has to type it twice. */
export const PasswordStep = ({ onDone }: { readonly onDone: () => void }) => {
  const [known] = useState(takeFirstPassword);
  return (
    <>
      <p>{setupText('passwordText')}</p>
      <PasswordForm known={known} action={setupText('setPassword')} onDone={onDone} />
    </>
  );
};
