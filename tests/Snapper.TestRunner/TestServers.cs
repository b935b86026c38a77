using Snapper.AspNetCore.Processes;
using Snapper.Cli.Supervision;

namespace Snapper.TestRunner;

/// <summary>The servers that integration tests need.</summary>
/// <param name="Environment">Variables that tell the tests where they are.</param>
/// <param name="Missing">A line for each that cannot be had, and what follows.</param>
internal sealed record TestServers(IReadOnlyDictionary<string, string> Environment, IReadOnlyList<string> Missing)
{
    /// <summary>Finds them; installs Redis where that is allowed and it is missing.</summary>
    public static async Task<TestServers> Find(ExecutableFinder finder, MessageWriter messages)
    {
        var environment = new Dictionary<string, string>(StringComparer.Ordinal);
        var missing = new List<string>();
        void Take(string variable, Func<FoundProgram> find, string consequence)
        {
            try
            {
                var found = find();
                if (found.Path is not null) environment[variable] = found.Path;
                else missing.Add($"{found.Finding}: {consequence}");
            }
            catch (StartupException wrong)
            {
                missing.Add($"{wrong.Message}: {consequence}");
            }
        }

        if (finder.Find("redis-server", "SNAPPER_REDIS_SERVER").Count == 0) await RedisInstaller.TryInstall(messages);
        Take("SNAPPER_REDIS_SERVER", () => ServerPrograms.Redis(finder), "tests that need Redis do not run");
        Take("SNAPPER_DAPRD", () => ServerPrograms.Daprd(finder), "tests that need Dapr do not run");
        Take("SNAPPER_PLACEMENT", () => ServerPrograms.Placement(finder), "tests that need Dapr do not run");
        return new TestServers(environment, missing);
    }
}
