import { createHmac, randomBytes } from 'node:crypto';
import { Pool } from 'undici';

/** The least that a delivery can cost: a signature and a POST with undici, without any record. Runs as its own
 *  process and prints the posts per second. */
const [origin, count, connections] = [process.argv[2]!, Number(process.argv[3]), Number(process.argv[4])];
const pool = new Pool(origin, { connections });
const secret = randomBytes(32);
const body = Buffer.from(JSON.stringify({ event: 'order:created', data: { text: 'x'.repeat(1_500) } }));

const post = async (n: number): Promise<void> => {
  const key = `evt_${n}`;
  const seconds = Math.floor(Date.now() / 1_000);
  const mac = createHmac('sha256', secret).update(`${key}.${seconds}.`).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-idempotency-key': key,
    'x-timestamp': String(Date.now()),
    'x-signature': `t=${seconds},v1=${mac}`,
  };
  const { body: answer } = await pool.request({ method: 'POST', path: '/ok/bare', headers, body });
  await answer.dump();
};

let next = 0;
const began = performance.now();
const one = async () => {
  while (next < count) await post(next++);
};
await Promise.all(Array.from({ length: connections }, one));
console.log((count * 1_000) / (performance.now() - began));
await pool.close();
