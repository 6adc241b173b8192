import { readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Pool } from '@cpg/platform/postgres';
import fc from 'fast-check';
import * as secrets from './admin/secrets.ts';
import * as keyList from './api/api-keys/api-key-list.ts';
import * as auditLog from './api/audit-log/audit-log.ts';
import * as deliveries from './api/deliveries/delivery-queries.ts';
import * as webhookHealth from './api/deliveries/webhook-health.ts';
import * as lists from './api/lists/page.ts';
import * as merchantChanges from './api/merchants/merchant-changes.ts';
import * as merchants from './api/merchants/merchant-queries.ts';
import * as orders from './api/orders/order-queries.ts';
import * as overview from './api/overview/overview.ts';
import * as pageSettings from './api/payment-page/payment-page-settings.ts';
import * as payments from './api/payments/payment-queries.ts';
import * as settlement from './api/reports/settlement.ts';
import * as volume from './api/reports/volume.ts';
import * as requestList from './api/requests/request-list.ts';
import * as refunds from './api/refunds/refund-routes.ts';
import type { RequestListQuery } from './api/requests/request-schemas.ts';
import * as userList from './api/users/user-list.ts';
import * as webhooks from './api/webhooks/webhook-queries.ts';
import * as recorded from './audit/record-change.ts';
import * as checkout from './checkout/state/checkout-queries.ts';
import * as deletions from './door/idempotency/deleted-resources.ts';
import * as requests from './door/idempotency/stored-requests.ts';
import * as credentials from './door/keys/credentials.ts';
import * as scopeUses from './door/keys/scope-uses.ts';
import * as requestLog from './door/request-log/logged-requests.ts';
import * as challenges from './identity/challenges.ts';
import * as passkeys from './identity/passkey-store.ts';
import * as sessions from './identity/sessions.ts';
import * as attempts from './identity/sign-in-attempts.ts';
import * as links from './identity/sign-in-links.ts';
import { hashOfToken } from './identity/tokens.ts';
import * as users from './identity/users.ts';
import { startGateway, type TestGateway } from './testing/jest-gateway.ts';
import {
  ADDRESS,
  DAY,
  type Ids,
  idsOf,
  insertParty,
  loggedBy,
  MERCHANT_DEFINITION,
  othersThan,
  PARTIES,
  type Party,
  partyState,
  TX_HASH,
} from './testing/jest-parties.ts';
import { rolledBack } from './testing/jest-rolled-back.ts';

/** Calls a function of the data layer for the owner of a key. `own` names its rows, `given` those that the request
 *  names: its own, or those of another merchant. */
type Run = (db: Pool, own: Ids, given: Ids) => Promise<unknown>;
interface Statement {
  readonly scope: 'key' | 'merchant';
  readonly run: Run;
}
/** Reads and changes rows of one key alone. */
const ofKey = (run: Run): Statement => ({ scope: 'key', run });
/** Reads and changes rows of one merchant alone. */
const ofMerchant = (run: Run): Statement => ({ scope: 'merchant', run });
/** Reads or changes rows of every merchant, for this reason. */
const ofAll = (reason: string) => ({ scope: 'all', reason }) as const;

const AT = new Date('2026-02-01T00:00:00Z');
/** While the sessions of the parties are open. */
const SOON = new Date('2026-01-31T13:00:00Z');
const CHANGE = { by: 'key:tests', at: AT };
const LIST = { page: 1, limit: 10, sort: 'asc' } as const;
const claimOf = ({ holder }: Ids, { merchantId, idempotencyKey: key }: Ids): requests.Claim => ({
  ...{ merchantId, key, requestHash: 'of all', seed: 'fresh', holder, instance: null, resource: 'ord_{seed}' },
  endsBy: AT,
});
/** A key is the caller's merchant and the text that the request carries. */
const claim = (own: Ids, given: Ids) => claimOf(own, { ...given, merchantId: own.merchantId });
const hashOf = ({ hash }: Ids) => ({ alg: 'HMAC-SHA256', salt: 'salt', secret_hash: hash, pepper_id: null }) as const;
const definitionOf = ({ merchantReference }: Ids) => ({
  ...MERCHANT_DEFINITION,
  external_reference_id: merchantReference,
});
const ordersOf = ({ merchantId }: Ids) =>
  ({
    ...{ table: 'orders.api_orders', owner: ['merchant_id', merchantId], only: 'not deleted', list: LIST },
    filters: [['external_reference_id', 'cart 1']],
  }) satisfies Parameters<typeof lists.selectResources>[1];
const replayed = ({ webhookId: id }: Ids) => ({ id, is_enabled: true });

const userOf = ({ userId, merchantId, email }: Ids) =>
  ({
    ...{ id: userId, merchant_id: merchantId, email, name: null, role: 'owner', created_by: 'tests', created_at: AT },
    ...{ password_hash: null, totp_box: null, totp_confirmed_at: null, totp_step: null, updated_at: null },
    ...{ last_signed_in_at: null, disabled_at: null, oidc_subject: null },
  }) satisfies users.User;
const passkeyOf = ({ passkeyId, userId, token }: Ids) =>
  ({
    ...{ id: passkeyId, user_id: userId, credential_id: token, public_key: new Uint8Array(1), counter: 7 },
    ...{ transports: [], name: 'phone', is_backed_up: false, created_at: AT },
  }) satisfies passkeys.NewPasskey;
const sessionOf = ({ sessionId, userId }: Ids) =>
  ({
    ...{ id: sessionId, user_id: userId, method: 'link', address: '127.0.0.1', user_agent: null, created_at: SOON },
    ...{ last_seen_at: SOON, expires_at: AT },
  }) satisfies sessions.Session;

/** Every function that runs a statement, by its module. The last test asks for those that are missing. */
const STATEMENTS: Readonly<Record<string, Readonly<Record<string, Statement | ReturnType<typeof ofAll>>>>> = {
  'admin/clock.ts': {
    showClocks: ofAll('shows clocks, which have no merchant'),
    confirmClock: ofAll('records an operator, not a merchant'),
  },
  'admin/secrets.ts': {
    addSecretsCommands: ofAll('an operator encrypts all secrets again'),
    sealedWebhooks: ofAll('an operator encrypts all secrets again'),
    updateSealed: ofKey((db, own) => {
      const row = { name: '', row: '', table: 'webhooks', columns: ['secret_box'], boxes: [own.secret] } as const;
      return secrets.updateSealed(db, { ...row, key: { id: own.webhookId } }, ['fresh']);
    }),
  },
  'api/api-keys/api-key-list.ts': {
    listApiKeys: ofMerchant((db, own) => keyList.listApiKeys(db, own.merchantId, LIST, AT)),
    showApiKey: ofKey(async (db, own, given) => {
      const key = await credentials.credentialById(db, own.merchantId, given.keyId);
      return key && keyList.showApiKey(db, key, AT);
    }),
  },
  'api/audit-log/audit-log.ts': {
    listChanges: ofMerchant((db, own, given) =>
      auditLog.listChanges(db, own.merchantId, { ...LIST, subject: given.merchantId }),
    ),
  },
  'api/deliveries/delivery-queries.ts': {
    listDeliveries: ofKey((db, own) => deliveries.listDeliveries(db, own.webhookId, LIST)),
    listDeliveriesOfMerchant: ofMerchant((db, own) => deliveries.listDeliveriesOfMerchant(db, own.merchantId, LIST)),
    listDeliveriesOfOrder: ofKey((db, own, given) =>
      deliveries.listDeliveriesOfOrder(db, { merchantId: own.merchantId, orderId: given.orderId }, LIST),
    ),
    deliveryById: ofKey((db, own, given) =>
      deliveries.deliveryById(db, { id: own.webhookId, url: 'https://shop.example' }, given.deliveryId, { limit: 10 }),
    ),
    listReplays: ofKey((db, own) => deliveries.listReplays(db, replayed(own), LIST)),
    replayById: ofKey((db, own, given) => deliveries.replayById(db, replayed(own), given.replayId)),
  },
  'api/deliveries/webhook-health.ts': {
    readWebhookHealth: ofKey((db, own) => webhookHealth.readWebhookHealth(db, own.webhookId, AT)),
  },
  'api/lists/page.ts': {
    selectPage: ofMerchant((db, own) => lists.selectPage(db, { ...ordersOf(own), columns: ['status'] })),
    selectResources: ofMerchant((db, own) => lists.selectResources(db, ordersOf(own))),
  },
  'api/merchants/merchant-changes.ts': {
    statusChangesOf: ofMerchant((db, own) => merchantChanges.statusChangesOf(db, own.merchantId)),
  },
  'api/merchants/merchant-queries.ts': {
    merchantById: ofMerchant((db, own) => merchants.merchantById(db, own.merchantId)),
    orderDefaultsOf: ofMerchant((db, own) => merchants.orderDefaultsOf(db, own.merchantId)),
    lockMerchant: ofMerchant((db, own) => merchants.lockMerchant(db, own.merchantId)),
    merchantByReference: ofMerchant((db, own) => merchants.merchantByReference(db, own.merchantReference)),
    listMerchants: ofAll('an operator lists the merchants'),
    insertMerchant: ofMerchant((db, own) => merchants.insertMerchant(db, 'mer_new', definitionOf(own), AT)),
    updateMerchant: ofMerchant((db, own) => merchants.updateMerchant(db, own.merchantId, definitionOf(own), AT)),
    updateMerchantStatus: ofMerchant((db, own) => merchants.updateMerchantStatus(db, own.merchantId, 'disabled', AT)),
  },
  'api/orders/order-queries.ts': {
    listOrders: ofMerchant(async (db, own, given) => {
      const filters: orders.OrderFilters[] = [
        { status: ['paid'] },
        { status: ['paid', 'expired'] },
        { metadata: { table: 'B7' } },
        { metadata: { table: 'B7' }, status: ['paid'] },
        { updated_from: new Date(0), updated_to: AT },
        { min_amount: '1', currency: 'USDC' },
        ...[
          given.orderId,
          given.paymentId,
          given.refundId,
          TX_HASH,
          ADDRESS,
          'cart 1',
          'page 1',
          '52.47',
          '52.47 USDC',
        ].map((search) => ({ search })),
      ];
      const found = [];
      for (const filter of filters) found.push(await orders.listOrders(db, own.merchantId, { ...LIST, ...filter }));
      return found;
    }),
    orderById: ofKey((db, own, given) => orders.orderById(db, own.merchantId, given.orderId)),
    ownedOrder: ofKey((db, own) => orders.ownedOrder(db, own.orderId)),
  },
  'api/overview/overview.ts': {
    readOverview: ofMerchant((db, { merchantId }) =>
      overview.readOverview({ db, merchantId, methods: [], availability: undefined, timezone: 'UTC', at: AT }),
    ),
  },
  'api/payment-page/payment-page-settings.ts': {
    paymentPageSettings: ofMerchant((db, own) => pageSettings.paymentPageSettings(db, own.merchantId)),
    logoByHash: ofMerchant((db, own) => pageSettings.logoByHash(db, own.logoHash)),
    replacePaymentPageSettings: ofMerchant((db, own) =>
      pageSettings.replacePaymentPageSettings(own.merchantId, {}, { pool: db, allowLocalUrls: false, change: CHANGE }),
    ),
  },
  'api/payments/payment-queries.ts': {
    listPayments: ofMerchant(async (db, own) => {
      const filters: payments.PaymentFilters[] = [
        { status: ['applied'] },
        { external_reference_id: 'cart 1' },
        { payment_reference: 'page 1' },
        { tx_hash: TX_HASH },
        { applied_from: new Date(0), applied_to: AT },
        { refunded_from: new Date(0), refunded_to: AT },
        { failed_from: new Date(0), failed_to: AT },
        { updated_from: new Date(0), updated_to: AT },
      ];
      const found = [];
      for (const filter of filters) found.push(await payments.listPayments(db, own.merchantId, { ...LIST, ...filter }));
      return found;
    }),
    decimalsOfPayments: ofKey((db, own) => payments.decimalsOfPayments(db, [own.paymentId])),
    merchantIdOfPayment: ofKey((db, own) => payments.merchantIdOfPayment(db, own.paymentId)),
    paymentById: ofKey((db, own, given) => payments.paymentById(db, own.merchantId, given.paymentId)),
  },
  'api/refunds/refund-routes.ts': {
    listRefunds: ofMerchant((db, own, given) =>
      refunds.listRefunds(db, own.merchantId, { ...LIST, payment_id: given.paymentId }),
    ),
    refundById: ofKey((db, own, given) => refunds.refundById(db, own.merchantId, given.refundId)),
  },
  'api/reports/settlement.ts': {
    listSettlementLines: ofMerchant((db, own, given) =>
      settlement.listSettlementLines(db, own.merchantId, { ...LIST, payment_id: given.paymentId }),
    ),
    settlementLinesIn: ofMerchant(async (db, { merchantId }) => {
      const query = { from: DAY, to: DAY };
      const lines = await settlement.settlementLinesIn(db, { merchantId, query });
      return Readable.from(lines).toArray();
    }),
    readBalances: ofMerchant((db, { merchantId }) => settlement.readBalances(db, merchantId, AT)),
  },
  'api/reports/volume.ts': {
    readVolume: ofMerchant((db, { merchantId }) =>
      volume.readVolume({ db, merchantId, from: undefined, to: undefined, timezone: 'UTC', at: AT }),
    ),
  },
  'api/requests/request-list.ts': {
    listLoggedRequests: ofMerchant(async (db, own, given) => {
      const filters: Partial<RequestListQuery>[] = [
        { request_id: given.requestId },
        { api_key_id: given.keyId },
        { method: 'POST' },
        { status: '404' },
        { status: '4xx', path: '/v1/' },
        { code: 'not_found' },
      ];
      const found = [];
      for (const filter of filters)
        found.push(await requestList.listLoggedRequests(db, own.merchantId, { ...LIST, ...filter }));
      return found;
    }),
  },
  'api/users/user-list.ts': {
    listUsers: ofMerchant((db, own) => userList.listUsers(db, own.merchantId, LIST)),
  },
  'api/webhooks/webhook-queries.ts': {
    hasRoomForWebhook: ofMerchant((db, own, given) =>
      webhooks.hasRoomForWebhook(db, own.merchantId, given.webhookId, 2),
    ),
    insertWebhook: ofMerchant(async (db, { merchantId, secret: secretBox, webhookId }) => {
      const webhook = { merchantId, secretBox, url: 'https://shop.example', events: [], seed: 'fresh' };
      return [
        await webhooks.insertWebhook(db, { ...webhook, id: webhookId }, 2, CHANGE),
        await webhooks.insertWebhook(db, { ...webhook, id: 'whk_new' }, 2, CHANGE),
      ];
    }),
    listWebhooks: ofMerchant((db, own) => webhooks.listWebhooks(db, own.merchantId, LIST)),
    webhookById: ofKey((db, own, given) => webhooks.webhookById(db, own.merchantId, given.webhookId)),
    countDisabledWebhooks: ofMerchant((db, own) => webhooks.countDisabledWebhooks(db, own.merchantId)),
    merchantIdOfWebhook: ofKey((db, own) => webhooks.merchantIdOfWebhook(db, own.webhookId)),
    updateWebhook: ofKey((db, own, given) =>
      webhooks.updateWebhook(db, own.merchantId, given.webhookId, { is_enabled: true }, CHANGE),
    ),
    rotateWebhookSecret: ofKey((db, own, given) => {
      const rotation = { secretBox: 'fresh', seed: 'fresh', overlapUntil: AT };
      return webhooks.rotateWebhookSecret(db, own.merchantId, given.webhookId, rotation, CHANGE);
    }),
    deleteWebhook: ofKey((db, own, given) => webhooks.deleteWebhook(db, own.merchantId, given.webhookId, CHANGE)),
    answerWebhookDeletion: ofKey((db, own, given) =>
      webhooks.answerWebhookDeletion(db, own.merchantId, given.webhookId),
    ),
    boxOfEachKey: ofAll('a gateway asks at its start whether it can decrypt every secret'),
  },
  'audit/transparency-log/log-tables.ts': {
    readRevision: ofAll('the log has the events of all'),
    readCheckpoint: ofAll('the log has the events of all'),
    tilesIn: ofAll('the log has the events of all'),
    writeLog: ofAll('the log has the events of all'),
  },
  'audit/move-events.ts': {
    waitingMerchants: ofAll('a gateway moves the events of all merchants'),
    oldestWaiting: ofAll('a gateway measures the events of all merchants'),
    moveEvents: ofAll('appends the events of one merchant: the tests of the mover check which'),
  },
  'audit/record-change.ts': {
    recordChange: ofMerchant((db, own) =>
      recorded.recordChange(db, { type: 'WebhookDeleted', merchantId: own.merchantId, subject: own.webhookId }, CHANGE),
    ),
  },
  'checkout/state/checkout-queries.ts': {
    checkoutOrder: ofKey((db, own, given) => checkout.checkoutOrder(db, own.merchantId, given.orderId)),
    changedCheckoutOrders: ofKey((db, own) => checkout.changedCheckoutOrders(db, new Map([[own.orderId, 1]]))),
    transferDepths: ofKey((db, own) => checkout.transferDepths(db, [{ network: 'chain', id: own.transferId }])),
    unsettledRefunds: ofKey((db, own, given) => checkout.unsettledRefunds(db, own.merchantId, given.orderId)),
    chainHeights: ofAll('blocks have no merchant'),
  },
  'door/idempotency/deleted-resources.ts': {
    isDeleted: ofKey(async (db, own, given) => [
      await deletions.isDeleted(db, own.merchantId, given.orderId),
      await deletions.isDeleted(db, own.merchantId, given.webhookId),
    ]),
    deleteResponsesOf: ofKey((db, own, given) => deletions.deleteResponsesOf(db, own.merchantId, given.orderId)),
    recordOrderDeletion: ofKey((db, own, given) => deletions.recordOrderDeletion(db, own.merchantId, given.orderId)),
    isDeletionUnanswered: ofKey((db, own, given) => deletions.isDeletionUnanswered(db, own.merchantId, given.orderId)),
    completeOrderDeletion: ofKey(async (db, own, given) => {
      for (const isAnswered of [false, true])
        await deletions.completeOrderDeletion(db, own.merchantId, given.orderId, { isAnswered });
    }),
    completeCrashedDeletions: ofAll('a gateway completes the deletions of others that crashed'),
    orderIdOfPayment: ofKey((db, own) => deletions.orderIdOfPayment(db, own.paymentId)),
    orderIdOfRefund: ofKey((db, own) => deletions.orderIdOfRefund(db, own.refundId)),
  },
  'door/idempotency/stored-requests.ts': {
    claimRequest: ofKey((db, own, given) => requests.claimRequest(db, claim(own, given))),
    findRequest: ofKey((db, own, given) => requests.findRequest(db, claim(own, given))),
    isOrderCreatedBy: ofKey((db, own) => requests.isOrderCreatedBy(db, own.orderId, AT)),
    storeResponse: ofKey((db, own, given) =>
      requests.storeResponse(db, claim(own, given), { status: 201, text: 'fresh', sealed: false }),
    ),
    releaseClaim: ofKey((db, own, given) => requests.releaseClaim(db, claim(own, given))),
    deleteExpiredRequests: ofAll('a gateway deletes what has expired'),
  },
  'door/keys/credentials.ts': {
    credentialsByKids: ofKey((db, own) => credentials.credentialsByKids(db, [own.kid])),
    credentialByKid: ofKey((db, own) => credentials.credentialByKid(db, own.kid)),
    credentialById: ofKey((db, own, given) => credentials.credentialById(db, own.merchantId, given.keyId)),
    countActiveKeys: ofMerchant((db, own) => credentials.countActiveKeys(db, own.merchantId, AT)),
    countExpiringKeys: ofMerchant((db, own) =>
      credentials.countExpiringKeys(db, own.merchantId, { after: new Date(0), before: AT }),
    ),
    lockCredential: ofKey((db, own) => credentials.lockCredential(db, own.kid)),
    credentialsOf: ofMerchant((db, own) => credentials.credentialsOf(db, own.merchantId)),
    retireCredential: ofKey((db, own) => credentials.retireCredential(db, own.kid, AT, AT)),
    updateCredential: ofKey((db, own) => credentials.updateCredential(db, own.kid, { label: 'shop' }, AT)),
    revokeCredential: ofKey((db, own) => credentials.revokeCredential(db, own.kid, AT)),
    replaceSecret: ofKey((db, own) =>
      credentials.replaceSecret(db, own.kid, { ...hashOf(own), secret_hash: 'fresh', last4: 'last' }, AT),
    ),
    replaceHash: ofKey((db, own) =>
      credentials.replaceHash(db, own.kid, hashOf(own), { ...hashOf(own), secret_hash: 'fresh' }),
    ),
    countHashes: ofAll('an operator counts the keys of a pepper'),
    updateLastUsed: ofKey((db, own) =>
      credentials.updateLastUsed(db, new Map([[own.kid, { at: AT, address: '203.0.113.7' }]])),
    ),
    issueKey: ofKey(async (db, { merchantId }) => {
      const spec: credentials.KeySpec = { merchantId, scopes: [], environment: 'sandbox' };
      const key = { text: 'text', environment: 'sandbox', kid: 'fresh', secret: 'fresh' } as const;
      return credentials.issueKey(db, spec, { pepper: 'pepper', at: AT, key });
    }),
  },
  'door/keys/scope-uses.ts': {
    updateScopeUses: ofKey((db, own) =>
      scopeUses.updateScopeUses(db, [{ kid: own.kid, scope: 'orders:self:read', day: '2026-01-31' }]),
    ),
    scopeUsesOf: ofKey((db, own) => scopeUses.scopeUsesOf(db, [own.kid])),
  },
  'door/request-log/logged-requests.ts': {
    insertRequests: ofKey((db, own) =>
      requestLog.insertRequests(db, [
        { ...loggedBy(own), id: 'req_new' },
        { ...loggedBy(own), id: own.requestId, status: 500 },
      ]),
    ),
    deleteRequests: ofAll('a gateway deletes what is old'),
  },
  'identity/challenges.ts': {
    useChallenge: ofKey((db, own) => challenges.useChallenge(db, { text: own.token, expiresAt: AT })),
  },
  'identity/passkey-store.ts': {
    passkeysOf: ofKey((db, own) => passkeys.passkeysOf(db, own.userId)),
    passkeyByCredential: ofKey((db, own) => passkeys.passkeyByCredential(db, own.token)),
    insertPasskey: ofKey(async (db, own) => [
      await passkeys.insertPasskey(db, { ...passkeyOf(own), id: 'pky_new', credential_id: 'fresh' }),
      await passkeys.insertPasskey(db, { ...passkeyOf(own), id: 'pky_other' }),
    ]),
    recordUse: ofKey((db, own) => passkeys.recordUse(db, own.passkeyId, { counter: 8, isBackedUp: true, at: AT })),
    deletePasskey: ofKey((db, own, given) => passkeys.deletePasskey(db, own.userId, given.passkeyId)),
  },
  'identity/sessions.ts': {
    openSession: ofKey((db, own) => sessions.openSession(db, hashOfToken(own.token), SOON)),
    markSeen: ofKey((db, own) => sessions.markSeen(db, sessionOf(own), AT)),
    startSession: ofKey((db, own) => sessions.startSession(db, { ...sessionOf(own), id: 'ses_new' }, 'fresh', AT)),
    sessionsOf: ofKey((db, own) => sessions.sessionsOf(db, own.userId, SOON)),
    endSession: ofKey((db, own, given) => sessions.endSession(db, own.userId, given.sessionId)),
    endSessions: ofKey((db, own) => sessions.endSessions(db, own.userId)),
    endSessionOfToken: ofKey((db, own) => sessions.endSessionOfToken(db, hashOfToken(own.token))),
    deleteEndedSignIns: ofAll('a gateway deletes what has ended'),
  },
  'identity/sign-in-attempts.ts': {
    beginAttempt: ofKey(async (db, own) =>
      Object.keys(await attempts.beginAttempt(db, { account: own.userId, browser: '' }, SOON)),
    ),
    forgetAttempt: ofKey((db) => attempts.forgetAttempt(db, '0')),
    forgetAttempts: ofKey((db, own) => attempts.forgetAttempts(db, { account: own.userId, browser: '' })),
    isKnownBrowser: ofKey((db, own, given) => attempts.isKnownBrowser(db, own.userId, hashOfToken(given.token))),
    rememberBrowser: ofKey((db, own) => attempts.rememberBrowser(db, own.userId, hashOfToken(own.token), AT)),
  },
  'identity/sign-in-links.ts': {
    makeSignInLink: ofKey(
      async (db, own) => (await links.makeSignInLink(db, own.userId, { by: 'tests', at: AT })).expiresAt,
    ),
    userOfLink: ofKey((db, own) => links.userOfLink(db, own.token, AT)),
    useLink: ofKey((db, own) => links.useLink(db, own.token)),
    deleteLinks: ofKey((db, own) => links.deleteLinks(db, own.userId)),
  },
  'identity/users.ts': {
    userByEmail: ofKey((db, own) => users.userByEmail(db, own.email)),
    userById: ofKey((db, own, given) => users.userById(db, own.merchantId, given.userId)),
    usersOf: ofMerchant((db, own) => users.usersOf(db, own.merchantId)),
    insertUser: ofKey((db, own) => users.insertUser(db, { ...userOf(own), id: 'usr_new' })),
    updateUser: ofKey((db, own) => users.updateUser(db, own.userId, { name: 'Ada', status: 'disabled' }, AT)),
    deleteUser: ofKey((db, own) => users.deleteUser(db, own.userId)),
    countOtherOwners: ofMerchant((db, own) => users.countOtherOwners(db, userOf(own))),
    setPassword: ofKey((db, own) => users.setPassword(db, own.userId, 'fresh', AT)),
    setTotp: ofKey((db, own) => users.setTotp(db, own.userId, 'fresh', AT)),
    acceptTotpStep: ofKey((db, own) => users.acceptTotpStep(db, own.userId, 7)),
    confirmTotp: ofKey((db, own) => users.confirmTotp(db, own.userId, ['fresh'], AT)),
    deleteRecoveryCodes: ofKey((db, own) => users.deleteRecoveryCodes(db, own.userId)),
    useRecoveryCode: ofKey((db, own, given) => users.useRecoveryCode(db, own.userId, hashOfToken(given.token))),
    bindOidcSubject: ofKey((db, own) => users.bindOidcSubject(db, own.userId, 'fresh')),
    totpBoxes: ofAll('an operator encrypts all secrets again'),
    totpBoxOfEachKey: ofAll('a gateway asks at its start whether it can decrypt every secret'),
  },
};

let gateway: TestGateway;
/** Selects the rows of all tables of the services, each as text. */
let everything: string;
beforeAll(async () => {
  gateway = await startGateway();
  for (const table of ['events', 'deliveries', 'attempts'])
    await gateway.pool.query('select webhooks.create_partition($1, $2)', [table, DAY]);
  everything = (await gateway.pool.query<{ all: string }>(TABLES)).rows[0]!.all;
});
afterAll(() => gateway.close());

const TABLES = `select string_agg(format('select %L as name, t::text as row from %1$s t', c.oid::regclass), ' union all ') as all
  from pg_class c where relnamespace::regnamespace::text in ('gateway', 'orders', 'payments', 'webhooks')
    and relkind in ('r', 'p') and not relispartition`;

/** The rows of all tables that match a pattern, in order. */
const rowsLike = async (db: Pool, pattern: string) => {
  const text = `select name, row from (${everything}) as rows where row ~ $1 order by name, row`;
  return (await db.query<{ name: string; row: string }>(text, [pattern])).rows;
};

const deleteRowsLike = async (db: Pool, pattern: string): Promise<void> => {
  const names = new Set((await rowsLike(db, pattern)).map(({ name }) => name));
  // Without triggers and foreign keys.
  await db.query('set local session_replication_role = replica');
  for (const name of names) await db.query(`delete from ${name} t where t::text ~ $1`, [pattern]);
  await db.query('set local session_replication_role = origin');
};

/** What a statement returns, and the rows of others after it. Nothing of it stays. */
const effectOf = async (db: Pool, run: () => Promise<unknown>, pattern: string) => {
  await db.query('savepoint before');
  const effect = { result: await run(), others: await rowsLike(db, pattern) };
  await db.query('rollback to savepoint before');
  return effect;
};

const checkIsolation = async (db: Pool, party: Party, given: Party, scope: Statement['scope']): Promise<void> => {
  const pattern = othersThan(party, scope);
  const others = await rowsLike(db, pattern);
  expect(others.length).toBeGreaterThan(0);
  const statements = Object.values(STATEMENTS).flatMap((module) =>
    Object.entries(module).flatMap(([name, statement]) =>
      statement.scope === scope ? [{ name, run: () => statement.run(db, idsOf(party), idsOf(given)) }] : [],
    ),
  );
  const results = new Map<string, unknown>();
  for (const { name, run } of statements) {
    const { result, others: after } = await effectOf(db, run, pattern);
    expect({ name, others: after }).toEqual({ name, others });
    results.set(name, result);
  }
  await deleteRowsLike(db, pattern);
  for (const { name, run } of statements) {
    const { result } = await effectOf(db, run, pattern);
    expect({ name, result: results.get(name) }).toEqual({ name, result });
  }
};

test('no statement reads, changes or deletes a row of another merchant, or of another key', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(partyState, partyState, partyState, partyState),
      fc.constantFrom(...PARTIES),
      fc.boolean(),
      fc.constantFrom('key', 'merchant'),
      (states, party, isForeign, scope) =>
        rolledBack(gateway.pool, async (db) => {
          const sameKey = PARTIES.filter(({ key }) => key === party.key);
          const given = sameKey.find(({ merchant }) => (merchant !== party.merchant) === isForeign)!;
          for (const [index, each] of PARTIES.entries()) await insertParty(db, each, states[index]!);
          await checkIsolation(db, party, given, scope);
        }),
    ),
    { numRuns: 6, endOnFailure: true },
  );
});

const SOURCES = import.meta.dirname;
const RUNS_A_STATEMENT = /\.query[<(]|\bselect(?:Page|Resources|)<|\bselectPage\(/;

/** The functions of a module, each with its text. Declarations start a line. */
const functionsOf = (file: string): [name: string, text: string][] =>
  readFileSync(`${SOURCES}/${file}`, 'utf8')
    .split(/^(?=(?:export )?const )/m)
    .flatMap((text) => {
      const [, name] = /^(?:export )?const (\w+)/.exec(text) ?? [];
      return name === undefined ? [] : [[name, text] satisfies [string, string]];
    });

test('the property above covers every function that runs a statement', () => {
  const files = (readdirSync(SOURCES, { recursive: true }) as string[]).filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && !file.startsWith('testing/'),
  );
  const missing = files.flatMap((file) => {
    const functions = functionsOf(file);
    const covered = new Set(Object.keys(STATEMENTS[file] ?? {}));
    // A function that others of the module call is covered by them.
    for (let before = -1; before < covered.size;) {
      before = covered.size;
      for (const [name, text] of functions)
        if (covered.has(name))
          for (const [called] of functions) if (new RegExp(`\\b${called}\\b`).test(text)) covered.add(called);
    }
    return functions
      .filter(([name, text]) => RUNS_A_STATEMENT.test(text) && !covered.has(name))
      .map(([name]) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

test('the property above names no function that is gone', () => {
  const names = Object.entries(STATEMENTS).flatMap(([file, module]) => {
    const known = new Set(functionsOf(file).map(([name]) => name));
    return Object.keys(module).filter((name) => !known.has(name));
  });
  expect(names).toEqual([]);
});
