import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Certificate = { readonly key: string; readonly cert: string };

let made: Certificate | null = null;

/** A self-signed certificate for 127.0.0.1, made by openssl once a process: no key is ever committed. */
export const selfSignedCertificate = (): Certificate => {
  if (made !== null) return made;
  const folder = mkdtempSync(join(tmpdir(), 'framering-tls-'));
  try {
    const keyPath = join(folder, 'key.pem');
    const certPath = join(folder, 'cert.pem');
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const files = ['-keyout', keyPath, '-out', certPath];
    execFileSync('openssl', [...kind, '-days', '2', ...subject, ...files], { stdio: 'ignore' });
    made = { key: readFileSync(keyPath, 'utf8'), cert: readFileSync(certPath, 'utf8') };
    return made;
  } finally {
    rmSync(folder, { recursive: true });
  }
};
