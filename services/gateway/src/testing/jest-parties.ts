import { type CreateMerchantDto, exampleOf, metadataHash, Order, Payment, Refund } from '@cpg/contracts';
import type { Pool, Queryable } from '@cpg/platform/postgres';
import fc from 'fast-check';
import { encodeTime } from 'ulid';
import { insertMerchant } from '../api/merchants/merchant-queries.ts';
import { replacePaymentPageSettings } from '../api/payment-page/payment-page-settings.ts';
import { issueKey, type KeySpec } from '../door/keys/credentials.ts';
import { insertRequests, type LoggedRequest } from '../door/request-log/logged-requests.ts';
import { insertPasskey } from '../identity/passkey-store.ts';
import { startSession } from '../identity/sessions.ts';
import { rememberBrowser } from '../identity/sign-in-attempts.ts';
import { hashOfToken } from '../identity/tokens.ts';
import { confirmTotp, insertUser, setTotp } from '../identity/users.ts';

/** One key of one merchant, and the resources that it made. */
export interface Party {
  readonly merchant: 'A' | 'B';
  readonly key: 1 | 2;
}

export const PARTIES: readonly Party[] = (['A', 'B'] as const).flatMap((merchant) =>
  ([1, 2] as const).map((key) => ({ merchant, key })),
);

/** Every text that names a row of a merchant has this mark, and every text that names a row of a key the second one. */
const merchantMark = (merchant: string) => `MERCHANT${merchant}`;
const keyMark = ({ merchant, key }: Party) => `KEY${merchant}${key}`;

/** A pattern of the rows that are not of this key, or not of its merchant. */
export const othersThan = (party: Party, scope: 'key' | 'merchant'): string => {
  const foreign = PARTIES.filter((other) => other.merchant !== party.merchant);
  const sibling = PARTIES.filter((other) => other.merchant === party.merchant && other.key !== party.key);
  const marks = [...foreign.map(({ merchant }) => merchantMark(merchant)), ...foreign.map(keyMark)];
  return [...new Set(marks), ...(scope === 'key' ? sibling.map(keyMark) : [])].join('|');
};

// Orders of both merchants have the same: each merchant may find its own alone.
export const TX_HASH = '5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060';
export const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';

const MADE_AT = new Date('2026-01-31T12:00:00Z');
/** The partition of the deliveries. */
export const DAY = '2026-01-31';

/** The ids of a party. Both merchants use the same texts where they choose them. */
export const idsOf = (party: Party) => {
  const row = keyMark(party).padStart(26, '0');
  return {
    merchantId: `mer_${merchantMark(party.merchant).padStart(26, '0')}`,
    merchantReference: `crm ${merchantMark(party.merchant)}`,
    logoHash: merchantMark(party.merchant),
    kid: `kid${keyMark(party)}`.padEnd(12, '0'),
    keyId: `key_${row}`,
    requestId: `req_${row}`,
    userId: `usr_${row}`,
    sessionId: `ses_${row}`,
    passkeyId: `pky_${row}`,
    email: `${row}@shop.example`,
    /** Of the cookie, the link, the browser, the recovery code and the passkey of the user. */
    token: `token ${row}`,
    idempotencyKey: `key ${party.key}`,
    holder: `request ${row}`,
    orderId: `ord_${row}`,
    paymentId: `pay_${row}`,
    refundId: `rfd_${row}`,
    webhookId: `whk_${row}`,
    deliveryId: `dlv_${encodeTime(MADE_AT.getTime())}${keyMark(party).padStart(16, '0')}`,
    eventId: `evt_${row}`,
    replayId: `rpl_${row}`,
    transferId: row,
    secret: `box ${row}`,
    hash: `hash ${row}`,
  };
};
export type Ids = ReturnType<typeof idsOf>;

/** What the rows of a party say. */
export const partyState = fc.record({
  orderDeleted: fc.boolean(),
  paymentDeleted: fc.boolean(),
  orderStatus: fc.constantFrom('paid', 'expired'),
  request: fc.constantFrom('running', 'released', 'answered', 'expired'),
  deletion: fc.constantFrom('none', 'started', 'completed'),
  webhookDeleted: fc.boolean(),
  deletionAnswered: fc.boolean(),
  isEnabled: fc.boolean(),
  olderSecretUntil: fc.constantFrom(null, '2026-01-01', '2027-01-01'),
  keyStatus: fc.constantFrom('active', 'revoked'),
  height: fc.option(fc.nat(100)),
});
export type PartyState = typeof partyState extends fc.Arbitrary<infer State> ? State : never;

export const MERCHANT_DEFINITION: CreateMerchantDto = {
  type: 'individual',
  external_reference_id: '',
  individual_profile: { first_name: 'Ada', last_name: 'Byron', email: 'ada@shop.example' },
  payment_methods: [{ type: 'gateway_pay', supported_currencies: ['USDC'], deposit_instructions: {} }],
  metadata: {},
};

/** Inserts a row into every table that has rows of merchants which the gateway reads or writes. */
export const insertParty = async (db: Pool, party: Party, state: PartyState): Promise<void> => {
  const ids = idsOf(party);
  if (party.key === 1) await insertMerchantRows(db, ids);
  await insertKeys(db, ids, state);
  await insertRequests(db, [loggedBy(ids)]);
  await insertUserRows(db, ids);
  await insertOrder(db, ids, state);
  await insertWebhook(db, ids, state);
  await insertDelivery(db, ids);
};

const insertMerchantRows = async (db: Pool, ids: Ids): Promise<void> => {
  const definition = { ...MERCHANT_DEFINITION, external_reference_id: ids.merchantReference };
  await insertMerchant(db, ids.merchantId, definition, MADE_AT);
  const options = { pool: db, allowLocalUrls: false, change: { by: 'key:tests', at: MADE_AT } };
  await replacePaymentPageSettings(ids.merchantId, { display_name: ids.merchantReference }, options);
  await db.query('update gateway.payment_page_settings set logo = $2, logo_hash = $3 where merchant_id = $1', [
    ids.merchantId,
    Buffer.from(ids.merchantId),
    ids.logoHash,
  ]);
};

const insertKeys = async (db: Queryable, ids: Ids, { keyStatus, request }: PartyState): Promise<void> => {
  const key = { text: ids.kid, environment: 'sandbox', kid: ids.kid, secret: ids.secret } as const;
  const spec: KeySpec = { merchantId: ids.merchantId, scopes: [], environment: 'sandbox' };
  await issueKey(db, spec, { pepper: 'pepper', at: MADE_AT, id: ids.keyId, key });
  await db.query('update gateway.api_keys set status = $2, secret_hash = $3 where kid = $1', [
    ids.kid,
    keyStatus,
    ids.hash,
  ]);
  await db.query("insert into gateway.api_key_scopes values ($1, 'orders:self:create', '2026-01-31')", [ids.kid]);
  const isAnswered = request === 'answered' || request === 'expired';
  await db.query(
    `insert into gateway.idempotency_keys
       (merchant_id, key, request_hash, seed, holder, leased_until, status, answer, resource_id, expires_at)
     values ($1, $2, 'of all', $3, $4, now() + $5::interval, $6, $7, $8, now() + $9::interval)`,
    [
      ...[ids.merchantId, ids.idempotencyKey, ids.transferId, request === 'running' ? ids.holder : null],
      ...[request === 'running' ? '20 seconds' : '0 seconds', isAnswered ? 201 : null, isAnswered ? '{}' : null],
      ...[ids.orderId, request === 'expired' ? '-1 hour' : '1 hour'],
    ],
  );
};

/** A request of the key of a party. */
export const loggedBy = ({ requestId, merchantId, keyId, orderId }: Ids): LoggedRequest => ({
  ...{ id: requestId, merchant_id: merchantId, api_key_id: keyId, user_id: null, method: 'POST', status: 404 },
  ...{ path: `/v1/orders/${orderId}/cancel`, code: 'not_found', duration_ms: 12, address: '203.0.113.7' },
  created_at: MADE_AT,
});

const insertUserRows = async (db: Queryable, ids: Ids): Promise<void> => {
  const { merchantId, userId, sessionId, email, token } = ids;
  const user = { id: userId, merchant_id: merchantId, email, name: null, role: 'owner', created_by: 'tests' } as const;
  await insertUser(db, { ...user, created_at: MADE_AT });
  await setTotp(db, userId, token, MADE_AT);
  await confirmTotp(db, userId, [hashOfToken(token)], MADE_AT);
  const session = {
    id: sessionId,
    user_id: userId,
    method: 'password',
    address: '127.0.0.1',
    user_agent: null,
  } as const;
  await startSession(db, session, hashOfToken(token), MADE_AT);
  await rememberBrowser(db, userId, hashOfToken(token), MADE_AT);
  await db.query(
    `insert into gateway.sign_in_links (token_hash, user_id, created_at, created_by, expires_at)
     values ($1, $2, $3, 'tests', $4)`,
    [hashOfToken(token), userId, MADE_AT, '2026-03-01'],
  );
  await insertPasskey(db, {
    ...{ id: ids.passkeyId, user_id: userId, credential_id: token, public_key: Buffer.from('key'), counter: 7 },
    ...{ transports: [], name: 'phone', is_backed_up: false, created_at: MADE_AT },
  });
  // The text of an account is a hash, which would not say whose the row is.
  await db.query(`insert into gateway.sign_in_attempts (account, browser, attempted_at) values ($1, '', $2)`, [
    userId,
    MADE_AT,
  ]);
};

const insertOrder = async (db: Queryable, ids: Ids, state: PartyState): Promise<void> => {
  const { merchantId: merchant_id, orderId: order_id, paymentId: payment_id } = ids;
  const order = { ...exampleOf(Order), id: order_id, merchant_id };
  await db.query(
    `insert into orders.orders (id, merchant_id, external_reference_id, status, currency, created_at, revision, deleted, resource,
       last_event_at, total_amount, metadata_hashes)
     values ($1, $2, 'cart 1', $3, 'USDC', $4, 7, $5, $6, $4, 52.47, $7)`,
    [
      ...[order_id, merchant_id, state.orderStatus, MADE_AT, state.orderDeleted, state.orderDeleted ? null : order],
      state.orderDeleted ? null : metadataHash('table', 'B7'),
    ],
  );
  await db.query(
    `insert into payments.payables (id, order_id, merchant_id, rail, address, reference, hosted)
     values ($1, $1, $2, 'crypto_deposit', $3, 'page 1', false)`,
    [order_id, merchant_id, ADDRESS],
  );
  await db.query(
    `insert into payments.payments
       (id, merchant_id, order_id, status, currency, payment_rail, created_at, revision, deleted, resource, tx_hash)
     values ($1, $2, $3, 'applied', 'USDC', 'gateway_pay', $4, 0, $5, $6, $7)`,
    [
      ...[payment_id, merchant_id, order_id, MADE_AT, state.paymentDeleted],
      ...[{ ...exampleOf(Payment), id: payment_id, merchant_id, order_id }, TX_HASH],
    ],
  );
  const refund = { ...exampleOf(Refund), id: ids.refundId, payment_id, merchant_id, order_id };
  await db.query(
    `insert into payments.refunds (id, payment_id, merchant_id, order_id, currency, created_at, resource,
       status, claim_hash, claim_on_page)
     values ($1, $2, $3, $4, 'USDC', $5, $6, 'pending', $1, true)`,
    [ids.refundId, payment_id, merchant_id, order_id, MADE_AT, refund],
  );
  await db.query(
    `insert into payments.postings (id, payment_id, merchant_id, order_id, currency, account, amount, event, payment_created_at, created_at)
     values ($1 || '_000001_01', $1, $2, $3, 'USDC', 'received', 1, 'payment.received', $4, $4)`,
    [payment_id, merchant_id, order_id, MADE_AT],
  );
  await db.query(
    `insert into payments.chain_transfers (network, id, address, asset, units, seen_at, height, required)
     values ('chain', $1, 'address', 'USDC', 1, $2, $3, 6)`,
    [ids.transferId, MADE_AT, state.height],
  );
  if (state.deletion !== 'none')
    await db.query('insert into gateway.order_deletions (order_id, merchant_id, completed) values ($1, $2, $3)', [
      ...[order_id, merchant_id, state.deletion === 'completed'],
    ]);
};

const insertWebhook = async (db: Queryable, ids: Ids, state: PartyState): Promise<void> => {
  await db.query(
    `insert into gateway.webhooks (id, merchant_id, url, events, is_enabled, secret_box, previous_secret_box,
       previous_secret_until, older_secret_box, older_secret_until, secret_seed, created_at, deleted_at, deletion_answered)
     values ($1, $2, 'https://shop.example', '{order:paid}', $3, $4, $4, $5, $4, $5, 'of all', $6, $7, $8)`,
    [
      ...[ids.webhookId, ids.merchantId, state.isEnabled, ids.secret, state.olderSecretUntil, MADE_AT],
      ...[state.webhookDeleted ? MADE_AT : null, state.deletionAnswered],
    ],
  );
};

const insertDelivery = async (db: Queryable, ids: Ids): Promise<void> => {
  await db.query(
    `insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body)
     values ($1, $2, $3, $4, 'order:paid', $5, '1', json_build_object('id', $2::text))`,
    [DAY, ids.eventId, ids.merchantId, ids.orderId, MADE_AT],
  );
  await db.query(
    `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, status, attempts, created_at)
     values ($1, $2, $3, $4, 'order:paid', 'delivered', 1, $5)`,
    [DAY, ids.eventId, ids.webhookId, ids.deliveryId, MADE_AT],
  );
  await db.query(
    `insert into webhooks.attempts (day, delivery_id, number, started_at, duration_ms, outcome, response)
     values ($1, $2, 1, $3, 12, 'delivered', $2)`,
    [DAY, ids.deliveryId, MADE_AT],
  );
  await db.query(
    `insert into webhooks.replays (id, webhook_id, merchant_id, from_at, to_at, event_types, created_at, stepped_at)
     values ($1, $2, $3, $4, $4, '{order:paid}', $4, $4)`,
    [ids.replayId, ids.webhookId, ids.merchantId, MADE_AT],
  );
};
