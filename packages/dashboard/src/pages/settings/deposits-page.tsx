import { Stack, Table, Text } from '@mantine/core';
import type { DepositSettings } from '@cpg/sdk';
import { isZero } from '../../lib/amounts.ts';
import { useLive } from '../../queries.ts';
import { t, wordFor } from '../../texts/index.ts';
import { Page, Section } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { Amount, Id } from '../../ui/values.tsx';

interface PartProps {
  readonly settings: DepositSettings;
}

export const DepositsPage = () => {
  const settings = useLive<DepositSettings>('/v1/merchants/me/deposit-settings');
  return (
    <Page title={t.settings.tabs.deposits!}>
      <Needs need="readMerchant">
        <Loaded query={settings}>
          {(data) => (
            <>
              <Accounts settings={data} />
              <Confirmations settings={data} />
              <Section title={t.settings.deposits.tolerance}>
                <Text>
                  {data.underpayment_tolerance_percent > 0
                    ? t.settings.deposits.toleranceText(data.underpayment_tolerance_percent)
                    : t.settings.deposits.noTolerance}
                </Text>
              </Section>
              <RefundAddresses settings={data} />
            </>
          )}
        </Loaded>
      </Needs>
    </Page>
  );
};

const Accounts = ({ settings: { accounts } }: PartProps) => {
  const names = t.settings.deposits;
  return (
    <Section title={names.accounts} note={names.accountsNote}>
      {accounts.length === 0 && <Empty>{names.noAccounts}</Empty>}
      {accounts.length > 0 && (
        <div className="table-frame" tabIndex={0}>
          <Table aria-label={names.accounts}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{names.network}</Table.Th>
                <Table.Th>{names.owner}</Table.Th>
                <Table.Th>{names.fingerprint}</Table.Th>
                <Table.Th>{names.firstAddress}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {accounts.map(({ network, owner, fingerprint, first_address }) => (
                <Table.Tr key={network}>
                  <Table.Td>{network}</Table.Td>
                  <Table.Td>{wordFor(names.owners, owner)}</Table.Td>
                  <Table.Td>{fingerprint ?? '–'}</Table.Td>
                  <Table.Td>{first_address === undefined ? '–' : <Id value={first_address} short={false} />}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </Section>
  );
};

const Confirmations = ({ settings: { confirmations } }: PartProps) => {
  const names = t.settings.deposits;
  return (
    <Section title={names.confirmations} note={names.confirmationsNote}>
      <div className="table-frame" tabIndex={0}>
        <Table aria-label={names.confirmations}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{names.network}</Table.Th>
              <Table.Th>{names.currency}</Table.Th>
              <Table.Th ta="right">{names.from}</Table.Th>
              <Table.Th ta="right">{names.blocks}</Table.Th>
              <Table.Th>{names.owner}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {confirmations.map((rule) => (
              <Table.Tr key={`${rule.asset} ${rule.from_amount}`}>
                <Table.Td>{rule.network}</Table.Td>
                <Table.Td>{rule.currency}</Table.Td>
                <Table.Td ta="right">{isZero(rule.from_amount) ? '0' : <Amount value={rule.from_amount} />}</Table.Td>
                <Table.Td ta="right">{rule.confirmations}</Table.Td>
                <Table.Td>{wordFor(names.owners, rule.owner)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </Section>
  );
};

const RefundAddresses = ({ settings: { refund_addresses } }: PartProps) => {
  const names = t.settings.deposits;
  return (
    <Section title={names.refunds} note={names.refundsNote}>
      {refund_addresses.length === 0 && <Empty>{names.noRefunds}</Empty>}
      <Stack gap="xs">
        {refund_addresses.map(({ network, address }) => (
          <div key={`${network} ${address}`}>
            <Text size="sm">{network}</Text>
            <Id value={address} short={false} />
          </div>
        ))}
      </Stack>
    </Section>
  );
};
