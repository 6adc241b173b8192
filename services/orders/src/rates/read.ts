import { request } from 'undici';

const TIMEOUT_MS = 4_000;
const MAX_BYTES = 2 * 1024 * 1024;

/** The body of a public URL as text, and when the server made it. */
export interface Answer {
  readonly body: string;
  /** By the server's clock, from the header `Date`: a cache may keep an answer for long. */
  readonly at?: Date;
}

/** Reads a public URL. Rejects unless the answer has status 200, is complete within 4 s and has at most 2 MiB. */
export const readUrl = async (url: string): Promise<Answer> => {
  const { statusCode, headers, body } = await request(url, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { accept: 'application/json, application/xml', 'user-agent': 'crypto-payment-gateway' },
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
  const at = new Date(String(headers.date));
  return { body: Buffer.concat(chunks).toString('utf8'), ...(!Number.isNaN(at.getTime()) && { at }) };
};
