namespace Snapper.Live.Running;

/// <summary>A process of the running system.</summary>
internal enum Part
{
    Server,
    Daprd,
    Placement,
    Redis,
}
