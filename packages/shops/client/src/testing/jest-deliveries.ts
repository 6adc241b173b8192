import { createHmac } from 'node:crypto';

const SECRET = `whsec_${Buffer.from('a secret of at least 16 bytes').toString('base64')}`;

/** A delivery as the gateway signs it. */
export const delivery = (event: object, secret = SECRET): [rawBody: string, headers: Record<string, string>] => {
  const rawBody = JSON.stringify(event);
  const seconds = Math.floor(Date.now() / 1_000);
  const mac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`evt_1.${seconds}.${rawBody}`)
    .digest('hex');
  return [rawBody, { 'x-signature': `t=${seconds},v1=${mac}`, 'x-idempotency-key': 'evt_1', 'x-sequence': '1' }];
};

/** A store whose webhook is registered. */
export const REGISTERED = { step: 'created', id: 'whk_1', secret: SECRET, url: 'https://shop.example/hook' };
