import { Button, FileInput, Grid, Group, Image, Stack, Text, Textarea, TextInput } from '@mantine/core';
import type { OrderPage, PaymentPageSettings, PaymentPageSettingsDto } from '@cpg/sdk';
import { useState } from 'react';
import { call } from '../../api.ts';
import { base64Of, payPath } from '../../lib/file.ts';
import { useLive } from '../../queries.ts';
import { useAllowed } from '../../session.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';

const PATH = '/v1/merchants/me/payment-page';

export const PaymentPageSettingsPage = () => {
  const settings = useLive<PaymentPageSettings>(PATH);
  return (
    <Page title={t.settings.tabs['payment-page']!}>
      <Needs need="readMerchant">
        <Loaded query={settings}>
          {(data) => (
            <Grid gap="lg">
              <Grid.Col span={{ base: 12, md: 5 }}>
                {/* The fields begin anew when somebody saved. */}
                <Form key={data.updated_at} settings={data} />
              </Grid.Col>
              <Grid.Col span={{ base: 12, md: 7 }}>
                {useAllowed('readOrders') && <Preview version={data.updated_at ?? ''} />}
              </Grid.Col>
            </Grid>
          )}
        </Loaded>
      </Needs>
    </Page>
  );
};

interface Fields {
  readonly name: string;
  readonly color: string;
  readonly contact: string;
  readonly frames: string;
  readonly logo: File | null | undefined;
}

const requestOf = async ({ name, color, contact, frames, logo }: Fields): Promise<PaymentPageSettingsDto> => ({
  ...(name.trim() !== '' && { display_name: name.trim() }),
  ...(color.trim() !== '' && { accent_color: color.trim() }),
  ...(contact.trim() !== '' && { contact: contact.trim() }),
  frame_ancestors: frames.split('\n').flatMap((line) => line.trim() || []),
  ...(logo !== undefined && { logo: logo === null ? null : await base64Of(logo) }),
});

const Form = ({ settings }: { readonly settings: PaymentPageSettings }) => {
  const [fields, setFields] = useState<Fields>({
    name: settings.display_name,
    color: settings.accent_color ?? '',
    contact: settings.contact ?? '',
    frames: settings.frame_ancestors.join('\n'),
    logo: undefined,
  });
  const set = (changes: Partial<Fields>) => setFields({ ...fields, ...changes });
  const names = t.settings.page;
  return (
    <Section title={names.title}>
      <Stack>
        <TextInput
          label={names.name}
          description={names.nameNote}
          value={fields.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <Group align="end" wrap="nowrap">
          <TextInput
            label={names.color}
            description={names.colorNote}
            placeholder="#0a7d5c"
            flex={1}
            value={fields.color}
            onChange={(event) => set({ color: event.currentTarget.value })}
          />
          <input
            type="color"
            aria-label={names.color}
            value={/^#[\da-f]{6}$/i.test(fields.color) ? fields.color : '#0a7d5c'}
            onChange={(event) => set({ color: event.currentTarget.value })}
          />
        </Group>
        <TextInput
          label={names.contact}
          description={names.contactNote}
          value={fields.contact}
          onChange={(event) => set({ contact: event.currentTarget.value })}
        />
        <Logo url={settings.logo_url} logo={fields.logo} onChange={(logo) => set({ logo })} />
        <Textarea
          label={names.frames}
          description={names.framesNote}
          rows={2}
          value={fields.frames}
          onChange={(event) => set({ frames: event.currentTarget.value })}
        />
        <Group>
          <ConfirmButton
            label={t.actions.save}
            effect={names.saveEffect}
            need="updateMerchant"
            variant="filled"
            size="sm"
            onConfirm={async () => call('PUT', PATH, { body: await requestOf(fields) })}
          />
        </Group>
      </Stack>
    </Section>
  );
};

interface LogoProps {
  readonly url: string | undefined;
  readonly logo: File | null | undefined;
  readonly onChange: (logo: File | null | undefined) => void;
}

const Logo = ({ url, logo, onChange }: LogoProps) => {
  const names = t.settings.page;
  const hasLogo = url?.startsWith('/pay/logos/') === true && logo !== null;
  return (
    <Stack gap="xs">
      {hasLogo && <Image src={url} alt={names.logo} h={48} w="auto" fit="contain" />}
      <FileInput
        label={names.logo}
        description={names.logoNote}
        accept="image/png,image/jpeg,image/webp"
        value={logo ?? null}
        onChange={(file) => onChange(file ?? undefined)}
        placeholder={names.chooseLogo}
        clearable
        clearButtonProps={{ 'aria-label': names.removeLogo }}
      />
      {hasLogo && (
        <Group>
          <Button size="xs" variant="default" onClick={() => onChange(null)}>
            {names.removeLogo}
          </Button>
        </Group>
      )}
    </Stack>
  );
};

/** The page of the newest order. It runs no script and sends no form: the sandbox of the frame forbids both. */
const Preview = ({ version }: { readonly version: string }) => {
  const orders = useLive<OrderPage>('/v1/orders?limit=1&sort=desc');
  const names = t.settings.page;
  return (
    <Section title={names.preview} note={names.previewNote}>
      <Loaded query={orders}>
        {({ items }) => {
          const path = payPath(items[0]?.payment_url);
          return path === undefined ? (
            <Empty>{names.noPreview}</Empty>
          ) : (
            <>
              <iframe key={version} src={path} title={names.preview} className="preview" sandbox="allow-same-origin" />
              <Text size="sm">
                <a href={path} target="_blank" rel="noreferrer">
                  {names.open}
                </a>
              </Text>
            </>
          );
        }}
      </Loaded>
    </Section>
  );
};
