import type { Texts } from '../en.ts';

export const oidc: Texts['oidc'] = {
  signIn: (name) => `Entrar com ${name}`,
  failures: {
    oidc_failed: 'O acesso não é válido, ou demorou demais. Tente de novo.',
    oidc_canceled: 'O acesso foi cancelado.',
    oidc_unavailable: 'O serviço de acesso não responde agora. Tente mais tarde ou entre de outra forma.',
    oidc_email_unverified: 'O serviço de acesso não verificou seu e-mail.',
    oidc_unknown_user: 'Ninguém com seu e-mail pode entrar aqui. Peça um link ao dono da loja.',
    oidc_other_account: 'Seu e-mail é de outra conta do serviço de acesso do que antes. Pergunte ao operador.',
  },
};
