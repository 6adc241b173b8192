import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { installFromPyPi } from './pypi.ts';
import type { Delivered } from './signatures.ts';

const PACKAGE = { name: 'standardwebhooks', version: '1.1.0', pythonAtLeast: [3, 9] } as const;

// Reads {secret, headers, rawBody} and prints the verified payload.
const PROGRAM = `
import json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
given = json.load(sys.stdin)
try:
    print(json.dumps(Webhook(given["secret"]).verify(given["rawBody"], given["headers"])))
except WebhookVerificationError as error:
    print(error, file=sys.stderr)
    sys.exit(1)
`;

/** Verifies a delivery with standardwebhooks for Python. Rejects with its message if the delivery is invalid. */
export type PythonVerifier = (delivered: Delivered, secret: string) => Promise<unknown>;

/** Throws PackageUnavailableError if Python is missing or the library cannot be installed. */
export const pythonVerifier = async (): Promise<PythonVerifier> => {
  const python = join(await installFromPyPi(PACKAGE), 'python');
  return async ({ headers, rawBody }, secret) => {
    const child = spawn(python, ['-c', PROGRAM], { stdio: 'pipe', timeout: 20_000 });
    child.stdin.end(JSON.stringify({ secret, headers, rawBody }));
    const ended = new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code !== 0) throw new Error(`python refused it: ${err.trim()}`);
    return JSON.parse(out);
  };
};
