import { me, signOut } from '../../data/session.js';
import { Button } from '../../parts/button.js';
import { signInText } from '../../text/sign-in.js';
import type { PageProps } from '../table.js';

/** Who is signed in, and signing out. */
export const page = (_props: PageProps) => (
  <section>
    <h1>{me.value?.username}</h1>
    <p>{me.value?.role}</p>
    <Button onClick={() => void signOut()}>{signInText('signOut')}</Button>
  </section>
);
