using Snapper.Benchmarks.Systems;
using Xunit;

namespace Snapper.Benchmarks.Tests;

/// <summary>A test that needs daprd and placement. Without them it says so; where <c>CI=true</c> it runs all the same, and fails.</summary>
internal sealed class DaprFactAttribute : FactAttribute
{
    public DaprFactAttribute()
    {
        if (Environment.GetEnvironmentVariable("CI") == "true")
        {
            return;
        }

        try
        {
            ServerTools.Daprd();
            ServerTools.Placement();
        }
        catch (MissingToolException missing)
        {
            Skip = missing.Message;
        }
    }
}
