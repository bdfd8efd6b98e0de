import type { Ui } from '../../session/command-context.ts'

export async function run(args: string, ui: Ui): Promise<void> {
  const { signIn } = await import('../../dialogs/login.ts')
  await signIn(ui, args)
}
