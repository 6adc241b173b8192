import {
  addressRefund,
  cancelRefund,
  CLAIM,
  claimRefund,
  failPayment,
  given,
  issueRefundClaim,
  paymentApplied,
  paymentFailed,
  paymentReceived,
  paymentRefunded,
  refundAddressed,
  refundCanceled,
  refundClaimed,
  refundClaimIssued,
  refundRequested,
  refundSent,
  reportRefund,
  SECOND_REFUND_ID,
} from '../testing/jest-payment-events.ts';

const applied = [paymentReceived(), paymentApplied];
const pending = [...applied, refundRequested()];
const issued = [...pending, refundClaimIssued()];
const claimed = [...issued, refundClaimed];
const LATER_LINK = '0b'.repeat(32);

describe('IssueRefundClaim', () => {
  test('gives a pending refund a claim link, once for each token', () => {
    given(...pending)
      .when(issueRefundClaim())
      .then(refundClaimIssued());
    given(...issued)
      .when(issueRefundClaim())
      .thenNothing();
    given(...issued)
      .when(issueRefundClaim(LATER_LINK))
      .then(refundClaimIssued(LATER_LINK));
  });
  test.each([
    ['has an address of the merchant', [...pending, refundAddressed]],
    ['has an address of the payer', claimed],
    ['is sent', [...pending, refundAddressed, refundSent]],
    ['is canceled', [...pending, refundCanceled]],
    ['is only recorded', [...applied, paymentRefunded('4000')]],
  ])('is refused if the refund %s', (_, events) =>
    given(...events)
      .when(issueRefundClaim(LATER_LINK))
      .thenRefused('payment_conflict'),
  );
  test('is refused for an unknown refund', () =>
    given(...pending)
      .when(issueRefundClaim(CLAIM.tokenHash, SECOND_REFUND_ID))
      .thenRefused('not_found'));
  test('is refused after 20 links', () => {
    const links = Array.from({ length: 20 }, (_, n) => refundClaimIssued(String(n).padStart(64, '0')));
    given(...pending, ...links.slice(1))
      .when(issueRefundClaim())
      .then(refundClaimIssued());
    given(...pending, ...links)
      .when(issueRefundClaim())
      .thenRefused('payment_conflict');
  });
});

describe('ClaimRefund', () => {
  test('records the address of the payer, and what finds its transfer', () => {
    given(...issued)
      .when(claimRefund())
      .then(refundClaimed);
    given(...claimed)
      .when(reportRefund(false))
      .then(refundSent);
  });
  test('is ignored when it is repeated, also by another tab and after the link has expired', () => {
    given(...claimed)
      .when(claimRefund())
      .thenNothing();
    given(...claimed)
      .when(claimRefund({ endsBy: new Date('2027-01-01') }))
      .thenNothing();
    given(...claimed, refundSent)
      .when(claimRefund())
      .thenNothing();
  });
  test('never changes an address, whoever gave it', () => {
    given(...claimed)
      .when(claimRefund({ destination: 'tb1qother' }))
      .thenRefused('payment_conflict');
    given(...issued, refundAddressed)
      .when(claimRefund({ destination: 'tb1qother' }))
      .thenRefused('payment_conflict');
    given(...claimed)
      .when(addressRefund(undefined, 'tb1qother'))
      .thenRefused('payment_conflict');
  });
  test('is refused on a link that a later one replaced, and without a link', () => {
    given(...issued, refundClaimIssued(LATER_LINK))
      .when(claimRefund())
      .thenRefused('not_found');
    given(...pending)
      .when(claimRefund())
      .thenRefused('not_found');
  });
  test('is refused once the refund is canceled', () =>
    given(...issued, refundCanceled)
      .when(claimRefund())
      .thenRefused('payment_conflict'));
  test('is refused from the instant at which the link expires, and accepted a millisecond before', () => {
    const expiresAt = Date.parse(CLAIM.expiresAt);
    given(...issued)
      .when(claimRefund({ endsBy: new Date(expiresAt) }))
      .thenRefused('payment_conflict');
    given(...issued)
      .when(claimRefund({ endsBy: new Date(expiresAt - 1) }))
      .then(refundClaimed);
  });
  test('a claimed refund is canceled by the merchant, and with its payment', () => {
    given(...claimed)
      .when(cancelRefund())
      .then(refundCanceled);
    given(...claimed)
      .when(failPayment)
      .then(paymentFailed, refundCanceled);
  });
});
