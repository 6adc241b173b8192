import { Code, Text } from '@mantine/core';
import type { Address, Merchant } from '@cpg/sdk';
import { NEEDS } from '../../lib/scopes.ts';
import { useLive } from '../../queries.ts';
import { useAllowed } from '../../session.ts';
import { t, wordFor } from '../../texts/index.ts';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { Id, Time } from '../../ui/values.tsx';
import { ProfileForm } from './profile-form.tsx';

export const ProfilePage = () => {
  const merchant = useLive<Merchant>('/v1/merchants/me');
  return (
    <Page title={t.settings.tabs.profile!}>
      <Needs need="readMerchant">
        <Loaded query={merchant}>
          {(data) => (
            <>
              <Profile merchant={data} />
              <Defaults merchant={data} />
              <Operator merchant={data} />
            </>
          )}
        </Loaded>
      </Needs>
    </Page>
  );
};

const Profile = ({ merchant }: { readonly merchant: Merchant }) => {
  const names = t.settings.profile;
  const isAllowed = useAllowed('updateMerchant');
  return (
    <Section title={names.title} note={isAllowed ? names.note : t.states.needs(NEEDS.updateMerchant)}>
      {isAllowed ? <ProfileForm merchant={merchant} /> : <Facts facts={profileFacts(merchant)} />}
    </Section>
  );
};

const profileFacts = ({ business_profile: business, individual_profile: person }: Merchant) => {
  const names = t.settings.profile;
  return [
    [names.name, business?.business_name ?? (person && `${person.first_name} ${person.last_name}`)],
    [names.email, business?.contact_email ?? person?.email],
    [names.phone, business?.contact_phone ?? person?.phone],
    [names.address, business?.address && addressLine(business.address)],
  ] as const;
};

/** What the operator decided. */
const Operator = ({ merchant }: { readonly merchant: Merchant }) => {
  const names = t.settings.profile;
  return (
    <Section title={names.operator} note={names.operatorNote}>
      <Facts
        facts={[
          [names.reference, merchant.external_reference_id],
          [names.id, <Id key="id" value={merchant.id} />],
          [t.orders.created, <Time key="created" at={merchant.created_at} exact />],
          ...merchant.payment_methods.map(
            ({ type, supported_currencies }) =>
              [wordFor(t.orders.form.railNames, type), supported_currencies.join(', ')] as const,
          ),
        ]}
      />
    </Section>
  );
};

const addressLine = ({ street, city, state, postal_code, country }: Address): string =>
  [street, city, state, postal_code, country].join(', ');

const Defaults = ({ merchant: { order_defaults } }: { readonly merchant: Merchant }) => (
  <Section title={t.settings.profile.defaults} note={t.settings.profile.defaultsNote}>
    {Object.keys(order_defaults).length === 0 ? (
      <Empty>{t.settings.profile.noDefaults}</Empty>
    ) : (
      <Text component="div">
        <Code block>{JSON.stringify(order_defaults, null, 2)}</Code>
      </Text>
    )}
  </Section>
);
