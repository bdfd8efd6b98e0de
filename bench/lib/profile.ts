/** Programs that the profile of a developer runs: version managers of several languages ask each other. */
export const profilePrograms = 174

export const developerProfile = `for each in $(seq ${profilePrograms - 1}); do /bin/true; done\nexport PATH="$HOME/bin:$PATH"\n`
