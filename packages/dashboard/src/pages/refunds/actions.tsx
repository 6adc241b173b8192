import { Anchor, Stack, Text, TextInput } from '@mantine/core';
import type { Refund, RefundClaim, RefundRequest } from '@cpg/sdk';
import { useState } from 'react';
import { call } from '../../api.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { Secret, ResultDialog } from '../../ui/secret.tsx';
import { Amount, Id } from '../../ui/values.tsx';

interface ActionProps {
  readonly refund: Refund;
}

/** What a refund that waits for its transfer offers. */
export const RefundActions = ({ refund }: ActionProps) => (
  <>
    <WhatToSend refund={refund} />
    {refund.destination === undefined && <Claim refund={refund} />}
    <ConfirmButton
      label={t.money.refund.cancel}
      effect={t.money.refund.cancelEffect}
      need="refund"
      color="red.9"
      onConfirm={(idempotencyKey) => call('POST', `/v1/refunds/${refund.id}/cancel`, { body: {}, idempotencyKey })}
    />
  </>
);

const WhatToSend = ({ refund }: ActionProps) => {
  const [destination, setDestination] = useState('');
  const [transfer, setTransfer] = useState<RefundRequest | null>(null);
  const body = destination.trim() === '' ? {} : { destination: destination.trim() };
  return (
    <>
      <ConfirmButton
        label={t.money.refund.request}
        effect={t.money.refund.requestEffect}
        need="refund"
        onConfirm={async (idempotencyKey) =>
          setTransfer(await call<RefundRequest>('POST', `/v1/refunds/${refund.id}/request`, { body, idempotencyKey }))
        }
      >
        {refund.destination === undefined && (
          <TextInput
            label={t.money.destination}
            value={destination}
            onChange={(event) => setDestination(event.currentTarget.value)}
            data-autofocus
          />
        )}
      </ConfirmButton>
      <ResultDialog title={t.money.refund.request} isOpen={transfer !== null} onClose={() => setTransfer(null)}>
        {transfer && <Transfer transfer={transfer} />}
      </ResultDialog>
    </>
  );
};

const Transfer = ({ transfer }: { readonly transfer: RefundRequest }) => (
  <Stack>
    <Amount value={transfer.refund.amount} currency={transfer.refund.currency} copy strong />
    {transfer.refund.destination !== undefined && <Id value={transfer.refund.destination} short={false} />}
    <Text size="sm">{t.money.refund.exact}</Text>
    {transfer.senders.map((sender) => (
      <Id key={sender} value={sender} short={false} />
    ))}
    {/^(bitcoin|ethereum):/.test(transfer.payment_uri) && (
      <Anchor href={transfer.payment_uri} className="breaking" size="sm">
        {t.money.refund.uri}: {transfer.payment_uri}
      </Anchor>
    )}
  </Stack>
);

const Claim = ({ refund }: ActionProps) => {
  const [url, setUrl] = useState<string | null>(null);
  return (
    <>
      <ConfirmButton
        label={t.money.refund.claim}
        effect={t.money.refund.claimEffect}
        need="refund"
        onConfirm={async (idempotencyKey) => {
          const path = `/v1/refunds/${refund.id}/claim`;
          setUrl((await call<RefundClaim>('POST', path, { body: {}, idempotencyKey })).claim_url);
        }}
      />
      <Secret title={t.money.refund.claim} note={t.money.refund.claimNote} value={url} onClose={() => setUrl(null)} />
    </>
  );
};
