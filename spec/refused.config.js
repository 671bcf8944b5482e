// npm run lane refused: specs of npm test, by .ci/refused.js, which says where temporary files are.
import config from './ava.config.js'

const { environmentVariables: _, ...rest } = config

export default rest
