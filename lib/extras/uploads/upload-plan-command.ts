// The `upload-plan` command.
import { planUploads } from './upload-plan.ts'
import { OK, printProblems } from '../../publishing/cli/command.ts'
import type { Command } from '../../runtime/app/parts.ts'
import { formatBytes, table } from '../../publishing/cli/format.ts'

export const uploadPlan: Command = {
  name: 'upload-plan',
  summary: 'list what to upload to a bucket behind a CDN, in which order',
  about: `Prints a line for each file that a CDN, the option host, serves: its key in a
bucket, its size, and the Content-Type, Content-Encoding and Cache-Control with
which a server would send it. Files whose bytes never change at their URL come
first. Fails, and names them, where files are missing or cannot be read.

With --json, each file has its SHA-256, and the list the name of the release, which
changes with any file. Uploaded last, that JSON says which files the release needs.`,
  options: {},
  examples: [
    ['koa-fresh-assets upload-plan', 'Which keys?'],
    ['koa-fresh-assets upload-plan --json', 'For a script that uploads:']
  ],
  async run({ output, loadProject }) {
    const plan = await planUploads(await loadProject('deployment'))
    if (plan.problems.length > 0) return printProblems(output, { problems: plan.problems }, [])
    const rows = plan.files.map(({ key, size, type, encoding = '', cacheControl }) => {
      return [key, formatBytes(size), type, encoding, cacheControl]
    })
    const heading = ['key', 'size', 'type', 'encoding', 'cache-control']
    output.result(plan, table([heading, ...rows], [1]))
    return OK
  }
}
